//! The debug monitor (DDI 0403E, C1.4–C1.5; DEMCR C1.6.5): debug events as an exception, while
//! halting debug is off.

use crate::core::board::{finished, Board};
use cortex_m::{RunEnd, Stop};

const MON_EN: u32 = 1 << 16;
const MON_STEP: u32 = 1 << 18;
const HFSR_DEBUGEVT: u32 = 1 << 31;

/// `enable bits` writes DEMCR. `finish` ends the run by a BKPT that no monitor takes.
const MACROS: &str = "
        .equ DFSR, 0xE000ED30
        .macro finish
        ldr r0, =DEMCR
        movs r1, #0
        str r1, [r0]
        bkpt 0
        .pool
        .endm
        .macro enable bits
        poke DEMCR, \\bits
        .endm
";

/// Runs `program`. In the handler that ends it, r4 is the return address, r5 DFSR, r6 HFSR, r7 the
/// exception number.
fn run(program: &str) -> Board {
    finished(&format!("{MACROS} {program}"))
}

const REPORT: &str = "ldr r4, [sp, #24]\n ldr r5, =DFSR\n ldr r6, [r5, #-4]\n ldr r5, [r5]\n mrs r7, ipsr\n finish\n";

#[test]
fn a_breakpoint_calls_the_monitor_with_its_own_address() {
    // B1.5.6, table B1-8: the return address of BKPT is its own.
    let board = run(&format!("enable {MON_EN}\n adr r3, 1f\n b 1f\n .pool\n .balign 4\n 1: bkpt 7\n nop\n function debug_monitor\n {REPORT}"));
    assert_eq!(board.r(4), board.r(3));
    assert_eq!(board.registers([5, 6, 7]), [1 << 1, 0, 12]);
}

#[test]
fn a_breakpoint_that_the_priority_keeps_out_is_a_hard_fault() {
    // C1.4: DEBUGEVT marks this escalation. The low byte of SHPR3 is the monitor's priority.
    for mask in ["cpsid i", "movs r0, #0x40\n msr basepri, r0"] {
        let board = run(&format!("poke SHPR3, 0x60\n enable {MON_EN}\n {mask}\n bkpt 7\n .pool\n function hard_fault\n {REPORT}"));
        assert_eq!(
            board.registers([5, 6, 7]),
            [1 << 1, HFSR_DEBUGEVT, 3],
            "{mask}"
        );
    }
    let above = run(&format!("poke SHPR3, 0x20\n enable {MON_EN}\n movs r0, #0x40\n msr basepri, r0\n bkpt 7\n .pool\n function debug_monitor\n {REPORT}"));
    assert_eq!(above.r(7), 12, "a higher priority comes through");
}

#[test]
fn a_breakpoint_in_hard_fault_locks_up() {
    let source = format!("{MACROS} enable {MON_EN}\n udf 0\n .pool\n function hard_fault\n bkpt 1");
    let stop = Board::new(&source).stop();
    assert!(matches!(stop, Stop::Lockup { .. }), "{stop}");
}

#[test]
fn a_comparator_calls_the_monitor_before_its_instruction() {
    // C1.11.1; FP_CTRL, FP_COMP0. The handler turns the comparator off and returns.
    let board = run(&format!("enable {MON_EN}\n poke 0xE0002000, 3\n adr r3, 1f\n orr r1, r3, #0x40000000\n orr r1, #1\n ldr r0, =0xE0002008\n str r1, [r0]\n movs r2, #0\n b 1f\n .pool\n .balign 4\n 1: add r2, #1\n nop\n finish\n function debug_monitor\n ldr r4, [sp, #24]\n mov r8, r2\n ldr r5, =DFSR\n ldr r5, [r5]\n poke 0xE0002008, 0\n bx lr\n .pool"));
    assert_eq!(board.r(4), board.r(3));
    assert_eq!(board.registers([8, 2, 5]), [0, 1, 1 << 1]);
}

/// Watches stores to 0x20000100 by comparator 0 (C1.8.13–C1.8.15).
const WATCH: &str =
    "poke 0xE0001020, 0x20000100\n poke 0xE0001028, 6\n ldr r8, =0x20000100\n movs r9, #5\n";

#[test]
fn a_watchpoint_calls_the_monitor_behind_its_access() {
    let board = run(&format!("{WATCH} enable {MON_EN}\n str r9, [r8, #4]\n str r9, [r8]\n nop\n nop\n finish\n function debug_monitor\n add r10, #1\n ldr r11, [r8]\n ldr r5, =DFSR\n ldr r5, [r5]\n bx lr\n .pool"));
    assert_eq!(board.registers([10, 11, 5]), [1, 5, 1 << 2]);
}

#[test]
fn a_watchpoint_at_too_high_a_priority_is_ignored() {
    // C1.4: if the monitor cannot take a debug event, only breakpoints escalate.
    let board = run(&format!("{WATCH} enable {MON_EN}\n cpsid i\n str r9, [r8]\n cpsie i\n nop\n ldr r5, =DFSR\n ldr r5, [r5]\n finish\n function debug_monitor\n add r10, #1\n bx lr"));
    assert_eq!(board.registers([10, 5]), [0, 0]);
}

#[test]
fn mon_pend_waits_for_its_priority() {
    // DEMCR.MON_PEND reads as the exception's pending state, and clears it too.
    let board = run("cpsid i\n enable 0x30000\n ldr r6, [r0]\n mov r7, r10\n enable 0x10000\n ldr r8, [r0]\n cpsie i\n nop\n mov r9, r10\n enable 0x30000\n nop\n finish\n function debug_monitor\n add r10, #1\n bx lr");
    assert_eq!(board.registers([6, 7]), [0x3_0000, 0]);
    assert_eq!(board.registers([8, 9]), [0x1_0000, 0], "taken back");
    assert_eq!(board.r(10), 1);
}

#[test]
fn without_mon_en_a_pended_monitor_waits() {
    let board = run("enable 0x20000\n nop\n mov r7, r10\n enable 0x30000\n nop\n finish\n function debug_monitor\n add r10, #1\n bx lr");
    assert_eq!(board.registers([7, 10]), [0, 1]);
}

#[test]
fn mon_step_executes_one_instruction_at_a_time() {
    // C1.5.5: after the monitor returns, one instruction executes, then the monitor is pended with
    // DFSR.HALTED. Each call stores r2, which the instructions count up. The fifth call ends the
    // stepping.
    let board = run(&format!("movs r2, #0\n ldr r8, =0x20000200\n enable {}\n add r2, #1\n add r2, #1\n add r2, #1\n it eq\n addeq r2, #1\n add r2, #1\n add r2, #1\n finish\n function debug_monitor\n str r2, [r8], #4\n ldr r5, =DFSR\n ldr r5, [r5]\n add r10, #1\n cmp r10, #5\n bne 1f\n enable {MON_EN}\n 1: bx lr\n .pool", MON_EN | MON_STEP));
    let mut board = board;
    let seen = [0, 1, 2, 3, 4].map(|n| board.memory.word(0x2000_0200 + 4 * n));
    // Stepping begins after the store to DEMCR. IT is a step of its own.
    assert_eq!(seen, [1, 2, 3, 3, 4]);
    assert_eq!(board.registers([2, 10, 5]), [6, 5, 1]);
}

#[test]
fn stepping_begins_when_the_monitor_is_let_in() {
    // C1.5.5: what the monitor cannot preempt is not stepped. After the unmasking come three ADD,
    // and the LDR and MOVS of `finish`, whose STR turns the monitor off.
    for (mask, unmask) in [
        (
            "movs r0, #0x20\n msr basepri, r0\n movs r0, #0",
            "msr basepri, r0",
        ),
        (
            "movs r0, #0x20\n msr basepri, r0\n movs r0, #0x60",
            "msr basepri, r0",
        ),
        ("cpsid i", "cpsie i"),
        ("cpsid f", "cpsie f"),
    ] {
        let board = run(&format!("poke SHPR3, 0x40\n {mask}\n mov r1, r0\n enable {}\n mov r0, r1\n nop\n {unmask}\n adds r2, #1\n adds r2, #1\n adds r2, #1\n finish\n function debug_monitor\n add r10, #1\n bx lr", MON_EN | MON_STEP));
        assert_eq!(board.r(10), 5, "{mask}");
    }
}

#[test]
fn exceptions_above_the_monitor_are_not_stepped() {
    // C1.5.5: PendSV (0x20) runs without steps. SysTick's handler (0x80) is below the monitor
    // (0x40) and is stepped.
    let calls = |pend: u32| {
        let board = run(&format!("poke SHPR3, 0x80200040\n movs r8, #0\n cpsid i\n enable {}\n poke ICSR, {pend}\n cpsie i\n nop\n nop\n ldr r0, =DEMCR\n movs r1, #0\n str r1, [r0]\n bkpt 0\n .pool\n function handler\n function pendsv\n function systick\n mov r9, r10\n nop\n nop\n nop\n mov r11, r10\n bx lr\n function debug_monitor\n add r10, #1\n bx lr", MON_EN | MON_STEP));
        board.r(11) - board.r(9)
    };
    assert_eq!(calls(1 << 28), 0);
    assert_eq!(calls(1 << 26), 4);
}

#[test]
fn halting_debug_goes_before_the_monitor() {
    // C1.4: with C_DEBUGEN the monitor is never entered. BKPT halts, and MON_PEND waits.
    let mut board = Board::new(&format!("{MACROS} enable 0x30000\n movs r4, #1\n bkpt 0\n .pool\n function debug_monitor\n movs r4, #9\n bx lr"));
    board.debug_write(0xE000_EDF0, 0xA05F_0001);
    let Board { core, memory, .. } = &mut board;
    assert_eq!(core.run(memory, 10_000).unwrap(), RunEnd::Held);
    assert!(core.debug().halted());
    assert_eq!(board.r(4), 1);
}

#[test]
fn a_reset_switches_the_monitor_off_and_leaves_tracing_on() {
    // Cortex-M3 TRM (DDI 0337) 10.2.4: a core reset clears bits 19 to 16. Only power-up clears the
    // others.
    let mut board = Board::new("1: b 1b");
    board.debug_write(0xE000_EDFC, 0x010F_0001);
    board.core.reset(&mut board.memory).unwrap();
    assert_eq!(board.debug_read(0xE000_EDFC), 0x0100_0001);
}
