//! DWT's counters of where cycles went (DDI 0403E, C1.8): CPICNT, EXCCNT, SLEEPCNT, LSUCNT,
//! FOLDCNT.

use crate::core::board::{finished_with, Board};
use cortex_m::Timing;

pub const DWT_CTRL: u32 = 0xE000_1000;
pub const DEMCR: u32 = 0xE000_EDFC;
const CPICNT: u32 = 0xE000_1008;
const EXCCNT: u32 = 0xE000_100C;
const SLEEPCNT: u32 = 0xE000_1010;
const LSUCNT: u32 = 0xE000_1014;
const FOLDCNT: u32 = 0xE000_1018;
/// CPIEVTENA to FOLDEVTENA (C1.8.7).
pub const ALL: u32 = 0x1F << 17;

/// How much the counter at `register` counts for `program`, less what it counts for an empty one.
fn counted(register: u32, program: &str) -> u32 {
    let measure = |program: &str| {
        let source = format!("poke CPACR, 0xf00000\n poke ISER, 1\n poke DEMCR, 0x01000000\n poke CTRL, {ALL}\n ldr r11, ={register}\n ldr r12, =0x20000100\n mov r8, #8\n nop\n b 1f\n .pool\n .balign 16\n 1: ldr r9, [r11]\n mov.w r7, r7\n mov.w r7, r7\n {program}\n mov.w r7, r7\n mov.w r7, r7\n ldr r10, [r11]\n bkpt 0\n .pool\n function svcall\n bx lr\n function irq0\n bx lr");
        let board = finished_with(&source, &[(2_000, 0, true), (2_001, 0, false)]);
        board.r(10).wrapping_sub(board.r(9)) & 0xFF
    };
    measure(program).wrapping_sub(measure("")) & 0xFF
}

#[test]
fn each_counter_counts_its_own_cycles() {
    // C1.8.8–C1.8.12. The cycles are those of TRM tables 3-1 and 7-1, and of 3.9.1: 12 into an
    // exception, 10 out of it.
    for (program, cpi, exceptions, load_store, fold) in [
        ("add.w r0, r1, r2", 0, 0, 0, 0),
        ("mla r0, r1, r2, r3", 0, 0, 0, 0),
        ("udiv r0, r8, r12", 2, 0, 0, 0),
        ("vdiv.f32 s0, s1, s2", 13, 0, 0, 0),
        ("ldr.w r0, [r12]", 0, 0, 1, 0),
        ("ldm.w r12, {r0-r3}", 0, 0, 4, 0),
        ("stm.w r12, {r0-r3}", 0, 0, 4, 0),
        ("vldmia r12, {s0-s7}", 0, 0, 8, 0),
        ("push.w {r0-r3}\n add.w sp, sp, #16", 0, 0, 4, 0),
        // 16-bit instructions, so that the prefetch buffer holds the next ones when the IT folds.
        (
            "nop\n nop\n nop\n nop\n nop\n nop\n it eq\n addeq r0, #1",
            0,
            0,
            0,
            1,
        ),
        ("ldr.w r0, [r12]\n nop.w", 0, 0, 1, 1),
        ("b.w 2f\n .balign 4\n 2: mov.w r7, r7", 1, 0, 0, 0),
    ] {
        let found = [CPICNT, EXCCNT, LSUCNT, FOLDCNT].map(|register| counted(register, program));
        assert_eq!(found, [cpi, exceptions, load_store, fold], "{program}");
    }
    assert_eq!(counted(EXCCNT, "svc 0\n mov.w r7, r7"), 12 + 10);
}

#[test]
fn the_cycle_of_an_unaligned_group_is_its_second_instruction_s() {
    // compendium.i-0.nl, "Alignment rules": LSUCNT counts it if the second is a memory instruction,
    // else CPICNT. The load from a device, of 16 bits, has one cycle of its own in LSUCNT, and so
    // has a load that no other load follows.
    let group = |instructions: [&str; 3]| {
        let program = |group: &str| {
            format!("mov r6, r11\n nop\n nop.w\n ldr r5, [r6]\n {group}\n mov r7, r7")
        };
        let group = program(&instructions.join("\n"));
        [CPICNT, LSUCNT].map(|n| counted(n, &group).wrapping_sub(counted(n, &program(""))))
    };
    let (work, store) = ("mov.w r7, r7", "str.w r0, [r12]");
    assert_eq!(group([work, work, work]), [1, 0]);
    assert_eq!(group([work, store, work]), [0, 1]);
    assert_eq!(group([store, store, store]), [0, 1]);
    assert_eq!(group([store, work, store]), [1, 0]);
}

#[test]
fn sleep_is_counted_apart() {
    // The line rises at 2,000. CYCCNT less the other counters is the sleep.
    let mut board = Board::new("poke ISER, 1\n wfi\n bkpt 0\n .pool\n function irq0\n bx lr");
    board.debug_write(DEMCR, 0x0100_0000);
    board.debug_write(DWT_CTRL, ALL);
    board.lines = vec![(2_000, 0, true), (2_001, 0, false)];
    let [_, _, total, ..] = totals(&mut board);
    let cycles = board.core.cycles();
    assert!(
        (2_000 - total) < 40 && cycles - 2_000 < 40,
        "{total} of {cycles}"
    );
}

/// Everything that costs cycles: loops, literal loads, multiples, divisions, floats, IT blocks,
/// SVC, interrupts, faults, sleep.
const MIXTURE: &str = "
        poke CPACR, 0xf00000
        poke ISER, 1
        poke SHCSR, 0x70000
        poke CCR, 0x210
        poke SYST_RVR, 96
        poke SYST_CVR, 0
        poke SYST_CSR, 7
        movs r4, #0
        ldr r12, =0x20000100
        1: add r4, #1
        ldm r12, {r0-r3}
        ldr r5, [r12]
        nop
        ldr r6, [r12, #4]
        str r6, [r12, #8]
        mvn r7, #0
        udiv r7, r7, r4
        push {r0-r7}
        pop {r0-r7}
        vmov s0, r4
        vcvt.f32.u32 s0, s0
        vdiv.f32 s1, s0, s0
        vpush {s0-s7}
        vpop {s8-s15}
        tst r4, #3
        itt eq
        ldmeq r12, {r0-r3}
        subeq r0, #1
        tst r4, #15
        bne 2f
        svc 0
        wfi
        movs r0, #0
        udiv r0, r0, r0
        2: cmp r4, #200
        bne 1b
        bkpt 0
        .pool
        function svcall
        vmov s3, r0
        bx lr
        function systick
        add r8, #1
        bx lr
        function irq0
        add r9, #1
        bx lr
        function usage_fault
        ldr r0, [sp, #24]
        adds r0, #4
        str r0, [sp, #24]
        add r10, #1
        bx lr
";

/// The counters, in the order of their registers.
const COUNTERS: [u32; 5] = [CPICNT, EXCCNT, SLEEPCNT, LSUCNT, FOLDCNT];

/// Runs to the end. Returns what each of `COUNTERS` counted. They are read before they can wrap.
fn totals(board: &mut Board) -> [u64; 5] {
    let mut last = COUNTERS.map(|register| board.debug_read(register));
    let mut totals = [0; 5];
    loop {
        let ended = board.run_until(board.core.cycles() + 100).is_err();
        let now = COUNTERS.map(|register| board.debug_read(register));
        for n in 0..5 {
            totals[n] += u64::from(now[n].wrapping_sub(last[n]) & 0xFF);
        }
        last = now;
        if ended {
            return totals;
        }
    }
}

/// A program with a bit of everything, and interrupts. `ctrl` is DWT_CTRL.
pub fn mixture(timing: Timing, ctrl: u32) -> Board {
    let mut board = Board::with_timing(MIXTURE, timing);
    board.debug_write(DEMCR, 0x0100_0000);
    board.debug_write(DWT_CTRL, ctrl);
    board.lines = (1..300)
        .flat_map(|n| [(61 * n, 0, true), (61 * n + 11, 0, false)])
        .collect();
    board
}

fn assert_mixed(board: &Board) {
    assert!(board.r(8) > 50 && board.r(9) > 100 && board.r(10) > 10);
}

#[test]
fn the_counters_explain_every_cycle() {
    // C1.8.1: instructions = CYCCNT - CPICNT - EXCCNT - SLEEPCNT - LSUCNT + FOLDCNT.
    for timing in [Timing::Nucleo, Timing::Ideal] {
        let mut board = mixture(timing, ALL | 1);
        let [cpi, exceptions, sleep, load_store, folded] = totals(&mut board);
        assert_mixed(&board);
        assert_eq!(
            board.core.instructions(),
            board.core.cycles() - (cpi + exceptions + sleep + load_store) + folded,
            "{timing:?}"
        );
        for total in [cpi, exceptions, sleep, load_store] {
            assert!(total > 256, "{total}: too few to have wrapped");
        }
        assert_eq!(board.debug_read(0xE000_1004), board.core.cycles() as u32);
    }
}

#[test]
fn counting_costs_no_cycle() {
    let [counted, plain] = [ALL, 0].map(|ctrl| {
        let mut board = mixture(Timing::Nucleo, ctrl);
        board.finish();
        assert_mixed(&board);
        board.outcome()
    });
    assert!(counted == plain);
}

#[test]
fn a_counter_starts_anew_and_needs_both_enables() {
    // C1.8.7: enabling initialises the counter to 0; DEMCR.TRCENA gates the unit (C1.6.5).
    let mut board = Board::new("movs r0, #100\n 1: subs r0, #1\n bne 1b\n bkpt 0");
    board.debug_write(DWT_CTRL, ALL);
    board.core.run(&mut board.memory, 100).unwrap();
    assert_eq!(board.debug_read(CPICNT), 0, "TRCENA is off");
    board.debug_write(DEMCR, 0x0100_0000);
    board.core.run(&mut board.memory, 200).unwrap();
    let counted = board.debug_read(CPICNT);
    assert!(counted > 20, "{counted}");
    board.debug_write(DWT_CTRL, 0);
    board.core.run(&mut board.memory, 240).unwrap();
    assert_eq!(board.debug_read(CPICNT), counted, "it stands");
    board.debug_write(DWT_CTRL, 1 << 17);
    assert_eq!(board.debug_read(CPICNT), 0);
    assert_eq!(board.debug_read(DWT_CTRL), 0x4002_0000);
    board.debug_write(CPICNT, 0x1FF);
    assert_eq!(board.debug_read(CPICNT), 0xFF);
}
