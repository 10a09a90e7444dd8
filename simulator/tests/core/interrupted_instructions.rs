//! Interrupts in the middle of an instruction. LDM, STM and the like are continued (DDI 0403E,
//! B1.5.10; Cortex-M4 TRM, ARM DDI 0439D, 3.9.1). Divisions are restarted (TRM 3.9.1).

use crate::core::board::{finished, finished_in_slices, finished_with, Board, STACK_TOP};
use cortex_m::Stop;
use std::collections::BTreeSet;

/// TRM 3.9.1.
const ENTRY: u64 = 12;

/// The handler of line 0. It stores r5, the stacked xPSR and the return address to the device,
/// whose address is in r9. It uses the stack, and destroys what exceptions may destroy.
const HANDLER: &str = "
        function irq0
        str r5, [r9, #8]
        ldr r0, [sp, #28]
        str r0, [r9]
        ldr r0, [sp, #24]
        str r0, [r9, #4]
        push {r4, r5}
        mvn r2, #0
        mov r3, r2
        mov r12, r2
        pop {r4, r5}
        bx lr
        .pool
";

/// Words 1 to 32 are at 0x20000100. r4 = 0x20000140 points to their middle. r5 to r8 are 5 to 8, s0
/// to s15 are 0x100 to 0x10F.
const SETUP: &str = "
        poke CPACR, 0xf00000
        poke ISER, 1
        ldr r0, =0x20000100
        movs r1, #1
        1: str r1, [r0], #4
        adds r1, #1
        cmp r1, #33
        bne 1b
        .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        mov r1, #0x100 + \\n
        vmov s\\n, r1
        .endr
        ldr r4, =0x20000140
        movs r5, #5
        movs r6, #6
        movs r7, #7
        mov r8, #8
        ldr r9, =DEVICE
        cmp r5, r5
        b 2f
        .pool
        .balign 16
        2: str r5, [r9, #0x20]
        mov.w r7, r7
";

/// What a program leaves behind: registers, floating-point registers, memory, APSR.
type Outcome = (Vec<u32>, Vec<u32>, Vec<u8>, u32);

struct Run {
    outcome: Outcome,
    /// When the instruction begins: two cycles after the mark.
    start: u64,
    /// If the handler ran: when its first instruction executed, and the xPSR, the return address
    /// and the r5 that it found.
    handler: Option<(u64, u32, u32, u32)>,
    written: Vec<(u32, u32)>,
    /// When the marks at 0x20 and 0x28 issued.
    marks: [u64; 2],
    /// When the program ended.
    end: u64,
    pc: u32,
}

/// Runs `instruction` after the mark and a MOV. Line 0 rises at `arrival`.
fn run(instruction: &str, arrival: Option<u64>) -> Run {
    let mut board = Board::new(&format!(
        "{SETUP} {instruction}\n str r5, [r9, #0x24]\n bkpt 0\n .pool\n {HANDLER}"
    ));
    if let Some(cycle) = arrival {
        board.lines = vec![(cycle, 0, true), (cycle + ENTRY, 0, false)];
    }
    board.finish();
    let of = |offset| board.memory.written.iter().find(|w| w.0 == offset).copied();
    let issued = |offset: u32| of(offset).unwrap().2 - 1;
    let handler = of(8).map(|(_, r5, cycle)| (cycle - 1, of(0).unwrap().1, of(4).unwrap().1, r5));
    let words: Vec<u8> = board.memory.sram[0x100..0x200].to_vec();
    let stack = board.memory.sram[(board.r(13) & 0x7FFF) as usize % 0x8000..].to_vec();
    Run {
        start: issued(0x20) + 2,
        handler,
        written: board.memory.written.iter().map(|w| (w.0, w.1)).collect(),
        marks: [0x20, 0x28].map(|offset| of(offset).map_or(0, |w| w.2 - 1)),
        end: issued(0x24),
        pc: board.r(15),
        outcome: (
            (0..15).map(|n| board.r(n)).collect(),
            (0..32).map(|n| board.core.registers().float.s[n]).collect(),
            [
                words,
                if board.r(13) == STACK_TOP {
                    vec![]
                } else {
                    stack
                },
            ]
            .concat(),
            board.core.registers().xpsr() & 0xF800_0000,
        ),
    }
}

fn ici(xpsr: u32) -> u32 {
    xpsr >> 12 & 15
}

/// What the handler finds for each cycle, from `first` after the start to the end, in which line 0
/// rises: the latency, the stacked xPSR, the bytes from the return address to the end, and r5. What
/// the program leaves must be as without the interrupt.
fn interrupted(program: &str, first: u64) -> Vec<(u64, u32, u32, u32)> {
    let plain = run(program, None);
    let found = |arrival| {
        let run = run(program, Some(arrival));
        let what = format!("{program}, arrival at {arrival}");
        assert_eq!(plain.outcome, run.outcome, "{what}");
        let (cycle, xpsr, address, r5) = run.handler.expect(&what);
        (cycle - arrival, xpsr, run.pc - address, r5)
    };
    (plain.start + first..plain.end).map(found).collect()
}

/// All kinds, with and without write-back. For each: its cycles by the TRM's tables, and the
/// register in EPSR.ICI when an interrupt arrives at each transfer.
const MULTIPLES: [(&str, u64, &[u32]); 10] = [
    ("ldm.w r4, {r0-r3, r5-r8}", 9, &[1, 2, 3, 5, 6, 7, 8]),
    ("ldm.w r4!, {r0-r3, r5-r8}", 9, &[1, 2, 3, 5, 6, 7, 8]),
    ("ldmdb r4!, {r0-r3, r5-r8}", 9, &[1, 2, 3, 5, 6, 7, 8]),
    ("stm.w r4, {r5-r8}", 5, &[6, 7, 8]),
    ("stm.w r4!, {r5-r8}", 5, &[6, 7, 8]),
    ("stmdb r4!, {r5-r8}", 5, &[6, 7, 8]),
    ("push.w {r4-r8}", 6, &[5, 6, 7, 8]),
    ("vldmia r4!, {s2-s9}", 9, &[2, 2, 3, 3, 4, 4]),
    ("vstmdb r4!, {s1-s6}", 7, &[1, 2, 2, 3, 3]),
    ("vpush {s0-s7}", 9, &[1, 1, 2, 2, 3, 3]),
];

#[test]
fn a_multiple_is_continued_where_the_interrupt_ended_it() {
    // B1.5.10: ICI is the next register, and the result is the same as without an interrupt. TRM
    // tables 7-1 and 3-1: 1 + N cycles.
    for (instruction, cycles, registers) in MULTIPLES {
        let arrivals = interrupted(instruction, 0);
        assert_eq!(arrivals.len() as u64, cycles, "{instruction}");
        // TRM 3.9.1: at most twelve cycles if memory does not wait. Here an instruction whose last
        // address is on the bus is finished first, in one cycle or two. A load to an odd S register
        // is not separated from its even one.
        for (n, (latency, ..)) in arrivals.iter().enumerate() {
            assert!(
                (ENTRY..=ENTRY + 2).contains(latency),
                "{instruction}, arrival at cycle {n}: {latency}"
            );
        }
        // The address of the first transfer would be on the bus in cycle 1.
        for ((_, xpsr, ..), register) in arrivals[1..].iter().zip(registers) {
            assert_eq!(ici(*xpsr), *register, "{instruction}");
            assert_eq!(xpsr & 0x0600_0C00, 0, "{instruction}: other bits of ICI");
        }
    }
}

#[test]
fn a_pop_is_continued_and_its_words_survive_the_frame() {
    let program = "sub sp, #64\n push {r4-r8}\n mov r10, #0\n pop {r0-r3, r12}\n add sp, #64";
    let arrivals = interrupted(program, 0).into_iter();
    let continued: BTreeSet<(u32, u32)> = arrivals
        .map(|(_, xpsr, before_end, _)| (before_end, ici(xpsr)))
        .collect();
    let registers: Vec<u32> = continued
        .iter()
        .rev()
        .map(|c| c.1)
        .filter(|&n| n != 0)
        .collect();
    assert_eq!(
        registers,
        [8, 7, 6, 5, 12, 3, 2, 1],
        "in PUSH and in POP, but never the first"
    );
}

#[test]
fn transfers_are_made_once() {
    // The device counts writes. A continued instruction repeats none. TRM 3.9.1: inside an IT block
    // the instruction is restarted.
    let writes = |it: &str, arrival: Option<u64>| -> Vec<u32> {
        let run = run(
            &format!("add r10, r9, #0x40\n {it} r10, {{r5-r8}}"),
            arrival,
        );
        let device = run.written.iter().filter(|w| (0x40..0x80).contains(&w.0));
        device.map(|w| w.1).collect()
    };
    let start = run("nop", None).start + 1;
    assert_eq!(writes("stm.w", None), [5, 6, 7, 8]);
    let (mut continued, mut restarted) = (0, 0);
    for arrival in start..start + 8 {
        assert_eq!(writes("stm.w", Some(arrival)), [5, 6, 7, 8]);
        continued += 1;
        let again = writes("it eq\n stmeq.w", Some(arrival));
        if again.len() > 4 {
            let first = again.len() - 4;
            assert_eq!(again[first..], [5, 6, 7, 8]);
            assert_eq!(again[..first], [5, 6, 7, 8][..first]);
            restarted += 1;
        }
    }
    assert_eq!((continued, restarted), (8, 3));
}

#[test]
fn inside_an_it_block_the_bits_keep_its_state() {
    // B1.4.2: IT and ICI share their bits, and IT has priority.
    let program = "itt eq\n ldmeq.w r4!, {r0-r3, r6-r8}\n addeq r5, #1";
    let arrivals = interrupted(program, 0).into_iter();
    // ITSTATE 0x04: EQ, two instructions to go (table A7-2).
    let inside = arrivals
        .filter(|(_, xpsr, before_end, _)| {
            *before_end == 4 + 4 + 2 && xpsr & 0x0600_FC00 == 0x0000_0400
        })
        .count();
    assert!(inside >= 6, "{inside}");
}

#[test]
fn a_load_of_its_own_base_goes_on_from_before_the_base() {
    // TRM 3.9.1. r4 is the third register. Before it is loaded, the load continues as always. After
    // that it continues from r4. If r4 is the first register, it is restarted.
    let registers = |program| {
        interrupted(program, 1)
            .into_iter()
            .map(|found| ici(found.1))
    };
    assert!(registers("ldm.w r4, {r2-r8}")
        .take(6)
        .eq([3, 4, 4, 4, 4, 4]));
    for (_, xpsr, _, r5) in &interrupted("ldm.w r4, {r4-r8}", 1)[..4] {
        assert_eq!((ici(*xpsr), *r5), (0, 5), "restarted");
    }
}

#[test]
fn loading_the_pc_is_continued_too() {
    let program = "adr r0, 3f\n adds r0, #1\n push {r0}\n push {r6-r8}\n pop.w {r0-r2, pc}\n bkpt 1\n .balign 4\n 3: mov r10, #1";
    let arrivals = interrupted(program, 2).into_iter();
    assert_eq!(arrivals.filter(|found| ici(found.1) == 15).count(), 1);
}

#[test]
fn dismcycint_makes_the_interrupt_wait() {
    // TRM 4.3.1, ACTLR bit 0. The instruction begins ten one-cycle instructions after the mark.
    for instruction in ["ldm.w r4, {r0-r3, r5-r8}", "udiv r0, r4, r5"] {
        let program = |actlr: u32| {
            format!("poke 0xE000E008, {actlr}\n b 3f\n .pool\n .balign 16\n 3: str r5, [r9, #0x28]\n .rept 10\n mov.w r7, r7\n .endr\n {instruction}")
        };
        let latency = |actlr: u32| {
            let plain = run(&program(actlr), None);
            let arrival = plain.marks[1] + 11 + 1;
            let (cycle, xpsr, ..) = run(&program(actlr), Some(arrival)).handler.unwrap();
            (cycle - arrival, ici(xpsr), plain.end - arrival)
        };
        let (ended, register, rest) = latency(0);
        assert_eq!(ended, ENTRY, "{instruction}");
        assert!(rest >= 4, "{instruction}");
        assert_eq!(latency(1), (ENTRY + rest, 0, rest), "{instruction}");
        assert_eq!(register, instruction.starts_with("ldm") as u32);
    }
}

#[test]
fn a_division_is_abandoned_and_restarted() {
    // TRM 3.9.1: the return address is that of the division, and its operands are unchanged.
    let program = "mov.w r7, r7\n udiv r4, r4, r5";
    let arrivals = interrupted(program, 0);
    for (latency, xpsr, ..) in &arrivals {
        assert_eq!(ici(*xpsr), 0);
        assert!(*latency <= ENTRY + 1, "{latency}");
    }
    let abandoned = arrivals.iter().filter(|found| found.2 == 4 + 4).count();
    assert!(abandoned >= 5, "{abandoned}");
}

#[test]
fn a_fault_restarts_what_an_interrupt_had_ended() {
    // TRM 3.9.1: a fault restores the original base. The last two of six words are beyond the end
    // of memory.
    let source = format!("{SETUP} ldr r4, =0x20008008\n b 3f\n .pool\n .balign 16\n 3: str r5, [r9, #0x28]\n mov.w r7, r7\n ldmdb r4!, {{r0-r3, r5, r6}}\n bkpt 1\n .pool\n {HANDLER}\n function hard_fault\n ldr r10, [sp, #28]\n mov r11, r4\n ldr r12, [sp, #24]\n bkpt 0");
    let finished = |lines: &[(u64, u16, bool)]| {
        finished_with(
            &source.replace("poke ISER", "sub sp, #64\n poke ISER"),
            lines,
        )
    };
    let plain = finished(&[]);
    let mark = plain.memory.written.iter().find(|w| w.0 == 0x28).unwrap();
    let start = mark.2 + 1;
    for transfer in [1, 3] {
        let arrival = start + transfer;
        let board = finished(&[(arrival, 0, true), (arrival + ENTRY, 0, false)]);
        let seen = board.memory.written.iter().find(|w| w.0 == 0).unwrap();
        assert_eq!(ici(seen.1), transfer as u32);
        assert_eq!((board.r(11), ici(board.r(10))), (0x2000_8008, 0));
        assert_eq!(board.r(12), plain.r(12), "the same return address");
    }
}

#[test]
fn continuation_bits_that_fit_no_register_are_unpredictable() {
    // B1.5.10: neither a register outside the list nor its first one.
    for (register, instruction) in [(2, "ldm r4, {r3, r5}"), (3, "ldm r4, {r3, r5}"), (5, "nop")] {
        let source = format!("{SETUP} svc 0\n {instruction}\n bkpt 1\n .pool\n function svcall\n ldr r0, [sp, #28]\n orr r0, #{register} << 12\n str r0, [sp, #28]\n bx lr");
        let stop = Board::new(&source).stop();
        assert!(matches!(stop, Stop::Unpredictable { .. }), "{stop}");
        assert!(stop.to_string().contains("EPSR.ICI"), "{stop}");
    }
}

#[test]
fn systick_ends_a_multiple_too() {
    let source = "poke SYST_RVR, 30\n poke SYST_CVR, 0\n ldr r4, =0x20000100\n mov r10, #0\n poke SYST_CSR, 7\n b 2f\n .pool\n 2: .rept 40\n ldm r4, {r0-r3, r5-r8}\n .endr\n bkpt 0\n function systick\n ldr r0, [sp, #28]\n tst r0, #0xf000\n it ne\n addne r10, #1\n add r11, #1\n bx lr";
    let board = finished(source);
    assert!(
        board.r(11) > 10 && board.r(10) * 2 > board.r(11),
        "{} of {}",
        board.r(10),
        board.r(11)
    );
}

#[test]
fn slices_do_not_move_the_interruption() {
    let source = format!("{SETUP} .rept 20\n ldm.w r4, {{r0-r3, r5-r8}}\n udiv r0, r4, r5\n stm.w r4, {{r0-r3, r5-r8}}\n .endr\n bkpt 0\n .pool\n {HANDLER}\n function systick\n add r10, #1\n bx lr").replace("poke ISER, 1", "poke SYST_RVR, 61\n poke SYST_CVR, 0\n poke SYST_CSR, 7");
    assert!(finished_in_slices(&source).r(10) > 5);
}

#[test]
fn a_float_division_is_finished_beside_the_entry() {
    // ARM, "What is the behavior when an exception occurs while executing a floating operation": it
    // is neither abandoned nor waited for. The return address is the next instruction.
    for instruction in ["vdiv.f32 s20, s1, s2", "vsqrt.f32 s20, s1"] {
        let arrivals = interrupted(instruction, 0);
        assert_eq!(arrivals.len(), 14, "TRM table 7-1");
        for (latency, _, before_end, _) in &arrivals[1..] {
            assert_eq!((*latency, *before_end), (ENTRY, 4), "{instruction}");
        }
    }
}

#[test]
fn saving_floats_late_starts_over_after_an_interrupt() {
    // TRM 7.2.7: the first floating-point instruction of SVCall saves seventeen words. A higher
    // priority interrupts that.
    let source = format!("{SETUP} poke SHPR2, 0x80000000\n svc 0\n vmov r10, s0\n bkpt 0\n .pool\n function svcall\n str r5, [r9, #0x28]\n mov.w r7, r7\n vmov s0, r5\n str r5, [r9, #0x2c]\n bx lr\n {HANDLER}");
    let finished = |lines: &[(u64, u16, bool)]| finished_with(&source, lines);
    let cycle = |board: &Board, offset| {
        board
            .memory
            .written
            .iter()
            .find(|w| w.0 == offset)
            .unwrap()
            .2
    };
    let plain = finished(&[]);
    let start = cycle(&plain, 0x28) + 1;
    assert_eq!(
        cycle(&plain, 0x2C) - start,
        1 + 17 + 1,
        "VMOV, the words, the store"
    );
    for transfer in 1..17 {
        let arrival = start + transfer;
        let board = finished(&[(arrival, 0, true), (arrival + ENTRY, 0, false)]);
        assert_eq!(cycle(&board, 8) - 1 - arrival, ENTRY, "word {transfer}");
        assert_eq!(board.r(10), 0x100, "the thread's S0");
    }
}
