//! What a Cortex-M3 and a Cortex-M0 do otherwise than a Cortex-M4. Sections of DDI 0419C are those of
//! the ARMv6-M Architecture Reference Manual.

use crate::core::board::{Board, CODE, STACK_TOP};
use cortex_m::model::FlashPort;
use cortex_m::{CoreKind, Model, Timing};

/// Handlers that tell their exception in r4, and end the run.
const HANDLERS: &str = "function hard_fault\n movs r4, #3\n bkpt 0\n function usage_fault\n movs r4, #6\n ldr r5, =CFSR\n ldr r5, [r5]\n bkpt 0\n .pool\n";

/// What the assembler may make of a program's pseudo-instructions.
fn assembled_for(kind: CoreKind) -> String {
    format!(".cpu {}\n", kind.facts().name)
}

fn board(kind: CoreKind, program: &str) -> Board {
    let cpu = assembled_for(kind);
    let source = format!("{cpu}{program}\n bkpt 0\n .pool\n{HANDLERS}");
    let mut board = Board::with_core(&source, kind.model(), Timing::Nucleo);
    board.finish();
    board
}

#[test]
fn what_a_cortex_m3_lacks_is_a_usage_fault() {
    // DDI 0403E, A5.1 and B1.5.14: UNDEFINSTR is bit 16 of CFSR, NOCP bit 19.
    let faults = |program: &str| {
        let board = board(
            CoreKind::M3,
            &format!("poke SHCSR, 0x40000\n movs r4, #0\n .cpu cortex-m4\n {program}"),
        );
        (board.r(4), board.r(5))
    };
    for dsp in [
        "uadd8 r0, r1, r2",
        "smulbb r0, r1, r2",
        "uxtah r0, r1, r2",
        "umaal r0, r1, r2, r3",
    ] {
        assert_eq!(faults(dsp), (6, 1 << 16), "{dsp}");
    }
    for float in ["vadd.f32 s0, s0, s1", "vldr s0, [r0]", "vmrs r0, fpscr"] {
        assert_eq!(faults(float), (6, 1 << 19), "{float}");
    }
    for both in [
        "uxth.w r0, r1",
        "udiv r0, r1, r2",
        "umull r0, r1, r2, r3",
        "it eq\n addeq r0, #1",
    ] {
        assert_eq!(faults(both).0, 0, "{both}");
    }
}

#[test]
fn a_cortex_m0_has_one_fault() {
    // DDI 0419C, B1.5.6: every fault is a HardFault.
    for program in [
        "clz r0, r1",
        "udiv r0, r1, r2",
        "b.w 1f\n1: nop",
        "cbz r0, 1f\n nop\n1: nop",
        "it eq\n nop",
        "uadd8 r0, r1, r2",
        "vadd.f32 s0, s0, s1",
        "clrex",
        "ldr r1, =0x20000101\n ldr r0, [r1]", // A3.2.1: alignment
        "ldr r1, =0x20000101\n strh r0, [r1]",
        "ldr r1, =0x70000000\n ldr r0, [r1]",
        "ldr r1, =0x22000000\n ldr r0, [r1]", // no bit band
        "ldr r1, =0x42000000\n str r0, [r1]",
        "ldr r1, =0x20000100\n bx r1", // to Arm state
        "cpsid i\n svc 0",             // B1.5.6: masked
    ] {
        let board = board(
            CoreKind::M0,
            &format!("movs r4, #0\n .cpu cortex-m4\n {program}\n .cpu cortex-m0"),
        );
        assert_eq!(board.r(4), 3, "{program}");
        assert_eq!(board.core.registers().ipsr, 3, "{program}");
    }
}

#[test]
fn a_cortex_m0_calls_its_supervisor_and_returns() {
    // DDI 0419C, B1.5.6: the frame is that of ARMv7-M, and it is always aligned to eight bytes.
    let mut board = board(
        CoreKind::M0,
        "movs r0, #10\n sub sp, #4\n svc 7\n add sp, #4\n b 1f\n .pool\n function svcall\n mov r6, sp\n mov r5, lr\n mrs r7, ipsr\n bx lr\n1:",
    );
    assert_eq!(board.registers([5, 7]), [0xFFFF_FFF9, 11]);
    assert_eq!(board.r(6), STACK_TOP - 40);
    assert_eq!(board.memory.word(STACK_TOP - 40), 10);
    assert_eq!(board.r(13), STACK_TOP);
}

#[test]
fn a_cortex_m0_has_the_two_upper_bits_of_a_priority() {
    // Lines 0 to 3 at 0x40, 0x7F, 0x80, 0xC0: 0x7F reads 0x40.
    let board = board(
        CoreKind::M0,
        "poke IPR, 0xC0807F40\n ldr r2, =IPR\n ldr r2, [r2]",
    );
    assert_eq!(board.r(2), 0xC080_4040);
}

#[test]
fn a_cortex_m0_keeps_its_vectors_and_its_flags() {
    // VTOR reads 0 and ignores writes. APSR has no Q, CONTROL no nPRIV (DDI 0419C, B1.4).
    let board = board(
        CoreKind::M0,
        "poke VTOR, 0x20000000\n ldr r2, =VTOR\n ldr r2, [r2]\n movs r0, #0\n mvns r0, r0\n msr apsr_nzcvq, r0\n mrs r3, apsr\n movs r0, #3\n msr control, r0\n isb\n mrs r6, control\n movs r0, #0\n msr control, r0\n isb",
    );
    assert_eq!(board.registers([2, 3, 6]), [0, 0xF000_0000, 2]);
}

/// The cycles from a line's rise to the handler's first load, and from its return to the program's
/// next load, while the program executes NOPs.
fn latency(kind: CoreKind) -> u64 {
    let nops = "nop\n".repeat(60);
    let cpu = assembled_for(kind);
    let source = format!("{cpu} poke ISER, 1\n ldr r7, =DEVICE\n cpsie i\n {nops} bkpt 0\n .pool\n function irq0\n str r6, [r7]\n bkpt 0\n");
    let mut board = Board::with_core(&source, kind.model(), Timing::Nucleo);
    board.lines = vec![(60, 0, true)];
    board.finish();
    let [(0, _, stored)] = board.memory.written[..] else {
        panic!("{:?}", board.memory.written)
    };
    // A store is on the bus a cycle after it executes.
    stored - 1 - 60
}

#[test]
fn an_interrupt_enters_as_fast_as_each_core_s_manual_says() {
    // ARM, "A Beginner's Guide on Interrupt Latency": 16, 12 and 12 cycles.
    assert_eq!(latency(CoreKind::M0), 16);
    assert_eq!(latency(CoreKind::M0Plus), 15);
    assert_eq!(latency(CoreKind::M3), 12);
    assert_eq!(latency(CoreKind::M4), 12);
}

/// Cycles of `program` behind this FLASH_ACR, less those of an empty one.
fn cycles(model: Model, access_control: u32, program: &str) -> u64 {
    let measure = |program: &str| {
        let cpu = assembled_for(model.kind);
        let source = format!("{cpu} poke FLASH_ACR, {access_control}\n ldr r7, =DEVICE\n ldr r1, =0x20000100\n movs r2, #8\n movs r0, #0\n b 1f\n .pool\n .balign 16\n1: str r0, [r7]\n nop\n {program}\n nop\n str r0, [r7]\n bkpt 0\n .pool\n");
        let mut board = Board::with_core(&source, model, Timing::Nucleo);
        board.finish();
        let written = &board.memory.written[1..];
        written[1].2 - written[0].2
    };
    measure(program) - measure("")
}

#[test]
fn cores_with_one_bus_take_their_manuals_cycles() {
    // DDI 0432C and DDI 0484C, tables 3-1: the second has two stages and not three.
    let behind = |kind: CoreKind, flash_port| Model {
        flash_port,
        ..kind.model()
    };
    let cores = [
        behind(CoreKind::M0, FlashPort::Prefetch32x3),
        behind(CoreKind::M0Plus, FlashPort::Art64Small),
    ];
    for (program, expected) in [
        ("adds r0, r1, r2", [1, 1]),
        ("muls r0, r1", [1, 1]),
        ("ldr r0, [r1]", [2, 2]),
        ("ldr r0, [r1]\n ldr r3, [r1]", [4, 4]),
        ("str r0, [r1]", [2, 2]),
        ("ldm r1!, {r3-r6}\n subs r1, #16", [6, 6]),
        ("push {r3-r6}\n add sp, #16", [6, 6]),
        ("b 2f\n2:", [3, 2]),
        ("b 2f\n nop\n2:", [3, 2]),
        ("cmp r0, r0\n bne 2f\n2:", [2, 2]),
        ("cmp r0, r0\n beq 2f\n nop\n2:", [4, 3]),
        ("bl 2f\n2:", [4, 3]),
        ("ldr r3, =2f+1\n bx r3\n2:", [5, 4]),
        ("mrs r3, primask", [4, 3]),
        ("isb", [4, 3]),
        ("dmb", [4, 3]),
    ] {
        for (model, expected) in cores.into_iter().zip(expected) {
            let title = model.facts().title;
            assert_eq!(cycles(model, 0, program), expected, "{title}: {program}");
            assert_eq!(
                cycles(model, 0, &format!("nop\n {program}")),
                expected + 1,
                "{title}: {program}"
            );
        }
    }
}

#[test]
fn a_cortex_m0_waits_for_its_flash() {
    // RM0091 §3.2.1: at one wait state prefetch hides it in straight code. Without, a word of two
    // instructions is asked for when the first is decoded, and arrives a cycle late.
    let model = Model {
        flash_port: FlashPort::Prefetch32x3,
        ..CoreKind::M0.model()
    };
    let straight = "nop\n".repeat(16);
    let at = |access_control| cycles(model, access_control, &straight);
    assert_eq!((at(0), at(0x11), at(0x01)), (16, 16, 24));
    assert_eq!(cycles(model, 0x11, "ldr r0, [r1]"), 2, "SRAM");
    // A near target is in the buffer already. A far one waits for its read.
    let more = |skipped: usize| {
        let skipped = "nop\n".repeat(skipped);
        let branch = format!("nop\n nop\n nop\n nop\n b 2f\n {skipped}2: nop\n nop");
        cycles(model, 0x11, &branch) - cycles(model, 0, &branch)
    };
    assert_eq!((more(3), more(31)), (0, 1));
}

#[test]
fn a_cortex_m3_multiplies_slower_than_a_cortex_m4() {
    // DDI 0337G, 18.2, and DDI 0439D, table 3-1.
    for (program, m3, m4) in [
        ("mla r0, r1, r2, r2", 2, 1),
        ("umull r0, r3, r2, r2", 3, 1),
        ("umull r0, r3, r1, r2", 4, 1),
        ("umull r0, r3, r1, r1", 5, 1),
        ("smlal r0, r3, r1, r1", 7, 1),
    ] {
        assert_eq!(cycles(CoreKind::M3.model(), 0, program), m3, "{program}");
        assert_eq!(cycles(CoreKind::M4.model(), 0, program), m4, "{program}");
    }
}

#[test]
fn a_cortex_m3_does_not_overlap_indexed_loads() {
    // Measured on an STM32F103 and an STM32F407 (jnk0le, "random", cortex_m3m4.md).
    let pair = "ldr r0, [r1]\n ldr r3, [r2, #4]!";
    let program = format!("ldr r2, =0x20000200\n {pair}");
    let m3 = cycles(CoreKind::M3.model(), 0, &program);
    assert_eq!(m3 - cycles(CoreKind::M4.model(), 0, &program), 1);
}

#[test]
fn an_stm32f1_reads_its_flash_by_64_bits() {
    // PM0075, 2.3: at two wait states 64 bits in three cycles. So four instructions of 16 bits do not
    // wait, and two of 32 bits take three cycles.
    let model = Model {
        flash_port: FlashPort::Prefetch64x2,
        ..CoreKind::M3.model()
    };
    let (narrow, wide) = ("adds r0, #1\n".repeat(32), "add.w r0, r0, r2\n".repeat(32));
    let at =
        |access_control| [&narrow, &wide].map(|straight| cycles(model, access_control, straight));
    assert_eq!((at(0), at(0x12)[0]), ([32, 32], 32));
    assert!((46..=50).contains(&at(0x12)[1]), "{:?}", at(0x12));
    assert!(at(0x02)[1] >= at(0x12)[1], "{:?}", at(0x02));
}

#[test]
fn reset_keeps_the_core() {
    let mut board = board(CoreKind::M0, "nop");
    board.core.reset(&mut board.memory).unwrap();
    assert_eq!(board.core.model(), CoreKind::M0.model());
    assert_eq!(board.core.scb().vector_address(16), 64);
    assert!(board.core.pc() >= CODE);
}
