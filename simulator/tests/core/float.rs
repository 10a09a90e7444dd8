//! The floating-point unit: access, lazy stacking, arithmetic (A2.5, B1.5.7).

use crate::core::board::{nzcv, run, Board, STACK_TOP};

const ENABLE: &str = "poke CPACR, 0x00f00000\n dsb\n isb\n";

fn run_float(program: &str) -> Board {
    run(&format!("{ENABLE} {program}"))
}

fn s(board: &Board, n: usize) -> f32 {
    f32::from_bits(board.core.float_register(n))
}

#[test]
fn without_access_there_is_no_coprocessor() {
    let mut board = Board::new(
        "vmov s0, r0\n function hard_fault\n ldr r5, =CFSR\n ldr r5, [r5]\n bkpt 0\n .pool",
    );
    board.finish();
    assert_eq!(board.r(5), 1 << 19);
}

#[test]
fn arithmetic_in_single_precision() {
    let board = run_float("vmov s0, #3.0\n vmov s1, #0.5\n vadd.f32 s2, s0, s1\n vsub.f32 s3, s1, s0\n vmul.f32 s4, s0, s1\n vdiv.f32 s5, s0, s1\n vsqrt.f32 s6, s5\n vmov s7, s0\n vmla.f32 s7, s0, s1\n vneg.f32 s8, s0\n vnmls.f32 s8, s0, s1\n vabs.f32 s9, s3");
    assert_eq!(
        [2, 3, 4, 5, 7, 8, 9].map(|n| s(&board, n)),
        [3.5, -2.5, 1.5, 6.0, 4.5, 4.5, 2.5]
    );
    assert_eq!(s(&board, 6), 6f32.sqrt());
}

#[test]
fn fused_operations_round_once() {
    // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24. The last term remains only if the product is not rounded.
    let board = run_float("ldr r0, =0x3f800800\n vmov s0, r0\n vmov s1, #-1.0\n vmov s2, s1\n vmla.f32 s1, s0, s0\n vfma.f32 s2, s0, s0");
    let exact = 2f32.powi(-11) + 2f32.powi(-24);
    assert_eq!((s(&board, 1), s(&board, 2)), (2f32.powi(-11), exact));
}

#[test]
fn conversions_saturate_and_round() {
    let board = run_float("ldr r0, =0x4f800000\n vmov s0, r0\n vcvt.u32.f32 s1, s0\n vcvt.s32.f32 s2, s0\n vmov s3, #-2.5\n vcvt.s32.f32 s4, s3\n vcvtr.s32.f32 s5, s3\n vcvt.u32.f32 s6, s3\n mvn r1, #1\n vmov s7, r1\n vcvt.f32.s32 s8, s7\n vcvt.f32.u32 s9, s7\n vmov s10, #1.5\n vcvt.s32.f32 s10, s10, #8");
    let bits = |n| board.core.float_register(n);
    assert_eq!(
        [1, 2, 4, 5, 6].map(bits),
        [u32::MAX, 0x7FFF_FFFF, -2i32 as u32, -2i32 as u32, 0]
    );
    assert_eq!(
        (s(&board, 8), s(&board, 9), bits(10)),
        (-2.0, 4294967296.0, 384)
    );
    assert_eq!(board.core.fpscr() & 1, 1, "IOC");
}

#[test]
fn half_precision_converts_exactly() {
    // 1.5, the smallest subnormal, and the largest half. 65520 is halfway to the next power of two,
    // and becomes infinity.
    let board = run_float("ldr r0, =0x00013e00\n vmov s0, r0\n vcvtb.f32.f16 s1, s0\n vcvtt.f32.f16 s2, s0\n ldr r1, =0x477fe000\n vmov s3, r1\n vmov s4, r0\n vcvtb.f16.f32 s4, s3\n ldr r1, =0x477ff000\n vmov s3, r1\n vcvtt.f16.f32 s4, s3");
    assert_eq!((s(&board, 1), s(&board, 2)), (1.5, 2f32.powi(-24)));
    assert_eq!(board.core.float_register(4), 0x7C00_7BFF);
}

#[test]
fn comparisons_order_and_signal() {
    for (left, right, flags) in [
        ("#1.0", "#1.0", 0b0110),
        ("#1.0", "#2.0", 0b1000),
        ("#2.0", "#1.0", 0b0010),
    ] {
        let board = run_float(&format!(
            "vmov s0, {left}\n vmov s1, {right}\n vcmp.f32 s0, s1\n vmrs apsr_nzcv, fpscr"
        ));
        assert_eq!(nzcv(&board), flags, "{left} and {right}");
    }
    let unordered = "ldr r0, =0x7fc00000\n vmov s0, r0\n";
    let board = run_float(&format!(
        "{unordered} vcmp.f32 s0, s0\n vmrs apsr_nzcv, fpscr"
    ));
    assert_eq!((nzcv(&board), board.core.fpscr() & 1), (0b0011, 0));
    let board = run_float(&format!("{unordered} vcmpe.f32 s0, #0"));
    assert_eq!(board.core.fpscr() & 1, 1);
}

#[test]
fn nans_keep_their_payload_and_invalid_results_are_the_default() {
    let board = run_float("ldr r0, =0xff812345\n vmov s0, r0\n vmov s1, #1.0\n vadd.f32 s2, s1, s0\n vsub.f32 s3, s3, s3\n vdiv.f32 s3, s3, s3");
    assert_eq!(board.core.float_register(2), 0xFFC1_2345);
    assert_eq!(board.core.float_register(3), 0x7FC0_0000);
}

#[test]
fn an_inexact_result_is_marked() {
    assert_eq!(
        run_float("vmov s0, #1.0\n vmov s1, #3.0\n vadd.f32 s2, s0, s1")
            .core
            .fpscr()
            & 0x9F,
        0
    );
    assert_eq!(
        run_float("vmov s0, #1.0\n vmov s1, #3.0\n vdiv.f32 s2, s0, s1")
            .core
            .fpscr()
            & 0x9F,
        0x10
    );
}

#[test]
fn transfers_move_singles_doubles_and_lists() {
    let board = run_float("movs r0, #1\n movs r1, #2\n vmov d1, r0, r1\n vmov r2, s2\n vmov r3, s3\n vpush {d1}\n pop {r4, r5}\n vmov s8, s9, r1, r0\n vpush {s8-s9}\n vldr d5, [sp]\n vpop {s12-s13}\n @ vmov.32 d8[1], r1\n .inst.w 0xee281b10");
    assert_eq!([2, 3, 4, 5].map(|n| board.r(n)), [1, 2, 1, 2]);
    assert_eq!(
        [10, 11, 12, 13, 17].map(|n| board.core.float_register(n)),
        [2, 1, 2, 1, 2]
    );
    assert_eq!(board.r(13), STACK_TOP);
}

#[test]
fn rounding_modes_are_obeyed() {
    // 1 / 3 = 0.33333334326… to nearest. The number below is one unit less.
    for (mode, positive, negative) in [
        (0, 0x3EAA_AAAB, 0xBEAA_AAAB),
        (1, 0x3EAA_AAAB, 0xBEAA_AAAA),
        (2, 0x3EAA_AAAA, 0xBEAA_AAAB),
        (3, 0x3EAA_AAAA, 0xBEAA_AAAAu32),
    ] {
        let board = run_float(&format!("ldr r0, ={mode} << 22\n vmsr fpscr, r0\n vmov s0, #1.0\n vmov s1, #3.0\n vdiv.f32 s2, s0, s1\n vneg.f32 s0, s0\n vdiv.f32 s3, s0, s1\n vmov s4, #2.0\n vsqrt.f32 s4, s4"));
        assert_eq!(
            [2, 3].map(|n| board.core.float_register(n)),
            [positive, negative],
            "mode {mode}"
        );
        let root = if mode == 1 { 0x3FB5_04F4 } else { 0x3FB5_04F3 };
        assert_eq!(board.core.float_register(4), root, "mode {mode}");
    }
}

#[test]
fn flush_to_zero_loses_subnormals_and_says_so() {
    let halved = "movt r1, #0x0080\n vmov s0, r1\n vmov s1, #0.5\n vmul.f32 s2, s0, s1\n vadd.f32 s3, s2, s2\n";
    let board = run_float(&format!("movs r1, #0\n {halved}"));
    assert_eq!(
        [2, 3].map(|n| board.core.float_register(n)),
        [0x0040_0000, 0x0080_0000]
    );
    assert_eq!(board.core.fpscr() & 0x9F, 0);
    let board = run_float(&format!("movs r1, #0\n ldr r0, =1 << 24\n vmsr fpscr, r0\n {halved} vmov s4, r0\n movs r2, #1\n vmov s5, r2\n vadd.f32 s6, s5, s5"));
    assert_eq!([2, 3, 6].map(|n| board.core.float_register(n)), [0, 0, 0]);
    assert_eq!(board.core.fpscr() & 0x9F, 0x88, "IDC and UFC");
}

/// A handler that may use the FPU, and stores EXC_RETURN, SP and FPCCR.
fn handler(uses_float: bool) -> Board {
    let float = if uses_float { "vmov s0, #7.0" } else { "nop" };
    run_float(&format!("vmov s0, #2.0\n vmov s15, #3.0\n svc 0\n vmov r9, s0\n b 1f\n .pool\n function svcall\n mov r4, lr\n mov r5, sp\n ldr r6, =FPCCR\n ldr r6, [r6]\n {float}\n ldr r7, =FPCCR\n ldr r7, [r7]\n mrs r8, control\n bx lr\n .pool\n1:"))
}

#[test]
fn a_handler_without_floats_never_saves_them() {
    let mut board = handler(false);
    assert_eq!((board.r(4), board.r(5)), (0xFFFF_FFE9, STACK_TOP - 0x68));
    assert_eq!((board.r(6) & 1, board.r(7) & 1), (1, 1), "LSPACT");
    assert_eq!(board.r(8) & 4, 0);
    assert_eq!(board.memory.word(STACK_TOP - 0x68 + 0x20), 0);
    assert_eq!(
        (s(&board, 0), board.core.control() & 4, board.r(13)),
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
