//! The floating-point unit: access and lazy stacking (A2.5, B1.5.7). Its arithmetic is compared by the
//! differential test.

use crate::core::board::{finished, run, Board, STACK_TOP};

const ENABLE: &str = "poke CPACR, 0x00f00000\n dsb\n isb\n";

fn run_float(program: &str) -> Board {
    run(&format!("{ENABLE} {program}"))
}

fn s(board: &Board, n: usize) -> f32 {
    f32::from_bits(board.core.registers().float.s[n])
}

#[test]
fn without_access_there_is_no_coprocessor() {
    let board = finished(
        "vmov s0, r0\n function hard_fault\n ldr r5, =CFSR\n ldr r5, [r5]\n bkpt 0\n .pool",
    );
    assert_eq!(board.r(5), 1 << 19);
}

/// A handler that may use the FPU, and stores EXC_RETURN, SP and FPCCR.
fn handler(uses_float: bool) -> Board {
    let float = if uses_float { "vmov s0, #7.0" } else { "nop" };
    run_float(&format!("vmov s0, #2.0\n vmov s15, #3.0\n svc 0\n vmov r9, s0\n b 1f\n .pool\n function svcall\n mov r4, lr\n mov r5, sp\n ldr r6, =FPCCR\n ldr r6, [r6]\n {float}\n ldr r7, =FPCCR\n ldr r7, [r7]\n mrs r8, control\n bx lr\n .pool\n1:"))
}

#[test]
fn a_handler_without_floats_never_saves_them() {
    let mut board = handler(false);
    assert_eq!(board.registers([4, 5]), [0xFFFF_FFE9, STACK_TOP - 0x68]);
    assert_eq!((board.r(6) & 1, board.r(7) & 1), (1, 1), "LSPACT");
    assert_eq!(board.r(8) & 4, 0);
    assert_eq!(board.memory.word(STACK_TOP - 0x68 + 0x20), 0);
    assert_eq!(
        (
            s(&board, 0),
            board.core.registers().control & 4,
            board.r(13)
        ),
        (2.0, 4, STACK_TOP)
    );
}

#[test]
fn the_first_float_instruction_of_a_handler_saves_the_thread_s() {
    let mut board = handler(true);
    assert_eq!((board.r(6) & 1, board.r(7) & 1), (1, 0), "LSPACT");
    assert_eq!(board.r(8) & 4, 4);
    let saved = STACK_TOP - 0x68 + 0x20;
    assert_eq!(board.memory.word(saved), 2f32.to_bits());
    assert_eq!(board.memory.word(saved + 60), 3f32.to_bits());
    assert_eq!(f32::from_bits(board.r(9)), 2.0, "restored on return");
}

#[test]
fn without_lspen_the_state_is_saved_at_entry() {
    let mut board = run_float("poke FPCCR, 0x80000000\n vmov s0, #2.0\n svc 0\n b 1f\n .pool\n function svcall\n ldr r6, =FPCCR\n ldr r6, [r6]\n bx lr\n .pool\n1:");
    assert_eq!(board.r(6) & 1, 0);
    assert_eq!(board.memory.word(STACK_TOP - 0x68 + 0x20), 2f32.to_bits());
}
