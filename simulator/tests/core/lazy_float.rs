//! Floating-point context in exceptions: lazy, eager and none (B1.5.7, B3.2.22).

use crate::core::board::{finished, Board, STACK_TOP};

/// A thread with its own S0, S15, S16 and FPSCR calls SVC. `fpccr` selects how they are saved.
fn program(fpccr: u32, handler: &str) -> String {
    format!("poke CPACR, 0xf00000\n poke FPCCR, {fpccr}\n ldr r0, =0x3f800000\n vmov s0, r0\n ldr r0, =0x40000000\n vmov s15, r0\n ldr r0, =0x40400000\n vmov s16, r0\n mov r0, #0x03000000\n vmsr fpscr, r0\n svc 0\n vmrs r10, fpscr\n mrs r11, control\n bkpt 0\n .pool\n function svcall\n mov r4, lr\n mov r5, sp\n {handler}\n .pool")
}

const LAZY: u32 = 0xC000_0000;
const EAGER: u32 = 0x8000_0000;
const OFF: u32 = 0;
const STATUS: &str = "ldr r6, =FPCCR\n ldr r7, [r6]\n ldr r8, [r6, #4]\n ldr r9, [sp, #32]\n";
const TOUCH: &str = "movs r1, #0\n vmov s0, r1\n vmov s15, r1\n";

fn after_call(fpccr: u32, handler: &str) -> Board {
    finished(&program(fpccr, handler))
}

fn floats_are_intact(board: &Board) {
    let values = [0, 15, 16].map(|n| board.core.registers().float.s[n]);
    assert_eq!(values, [0x3F80_0000, 0x4000_0000, 0x4040_0000]);
    assert_eq!(board.r(10) & 0x0300_0000, 0x0300_0000);
    assert_eq!(board.r(11) & 4, 4, "FPCA is back");
}

#[test]
fn lazily_the_space_is_reserved_and_nothing_written() {
    let board = after_call(LAZY, &format!("{STATUS} bx lr"));
    assert_eq!(board.registers([4, 5]), [0xFFFF_FFE9, STACK_TOP - 0x68]);
    // LSPACT. The context was Thread mode's (bit 3). HardFault could be taken there (bit 4).
    // MemManage and BusFault were disabled and could not (bits 5 and 6).
    assert_eq!(board.r(7), 0xC000_0019);
    assert_eq!(board.registers([8, 9]), [STACK_TOP - 0x68 + 0x20, 0]);
    floats_are_intact(&board);
}

#[test]
fn the_first_floating_point_instruction_of_the_handler_writes_them() {
    let mut board = after_call(LAZY, &format!("{TOUCH} {STATUS} mrs r12, control\n bx lr"));
    assert_eq!(board.r(7) & 1, 0, "LSPACT is over");
    assert_eq!(board.r(9), 0x3F80_0000);
    let frame = STACK_TOP - 0x68;
    assert_eq!(board.memory.word(frame + 0x20 + 60), 0x4000_0000, "S15");
    assert_eq!(
        board.memory.word(frame + 0x60) & 0x0300_0000,
        0x0300_0000,
        "FPSCR"
    );
    floats_are_intact(&board);
}

#[test]
fn eagerly_they_are_written_at_entry() {
    let board = after_call(EAGER, &format!("{STATUS} {TOUCH} bx lr"));
    assert_eq!((board.r(4), board.r(7) & 1), (0xFFFF_FFE9, 0));
    assert_eq!(board.r(9), 0x3F80_0000);
    floats_are_intact(&board);
}

#[test]
fn without_aspen_the_frame_is_basic_and_the_registers_are_the_handler_s_to_spoil() {
    let board = after_call(OFF, &format!("{TOUCH} bx lr"));
    assert_eq!(board.registers([4, 5]), [0xFFFF_FFF9, STACK_TOP - 0x20]);
    assert_eq!(board.core.registers().float.s[0], 0);
    assert_eq!(board.r(11) & 4, 0, "CONTROL.FPCA");
}

#[test]
fn a_handler_begins_with_the_default_modes() {
    // FPDSCR gives a new context its rounding and NaN modes (B3.2.23).
    let board = after_call(LAZY, "poke 0xE000EF3C, 0x02400000\n vmrs r9, fpscr\n bx lr");
    assert_eq!(board.r(9) & 0x03C0_0000, 0x0240_0000);
    floats_are_intact(&board);
}

#[test]
fn a_nested_handler_that_uses_floats_writes_the_outer_reservation() {
    let board = after_call(LAZY, "poke ICSR, 0x80000000\n nop\n nop\n ldr r6, =FPCCR\n ldr r7, [r6]\n ldr r9, [sp, #32]\n bx r4\n .pool\n function nmi\n mov r12, lr\n movs r1, #0\n vmov s0, r1\n vmov s15, r1\n bx lr");
    assert_eq!(board.r(7) & 1, 0);
    assert_eq!(board.r(9), 0x3F80_0000, "in the frame of the thread");
    floats_are_intact(&board);
}

#[test]
fn both_contexts_survive_when_handlers_nest() {
    let board = finished(&program(LAZY, "ldr r1, =0x42280000\n vmov s0, r1\n poke ICSR, 0x80000000\n nop\n nop\n vmov r9, s0\n bx r4\n .pool\n function nmi\n mov r12, lr\n movs r1, #0\n vmov s0, r1\n bx lr"));
    assert_eq!(board.r(9), 0x4228_0000);
    floats_are_intact(&board);
}

#[test]
fn a_reservation_in_memory_that_is_not_there_fails_when_it_is_used() {
    // B3.2.15, LSPERR: the handler has moved FPCAR.
    let board = finished(&format!(
        "{}\n function hard_fault\n ldr r5, =CFSR\n ldr r5, [r5]\n bkpt 0\n .pool",
        program(LAZY, "poke FPCAR, 0x10000000\n vmov s0, r0\n bkpt 1")
    ));
    assert_eq!(board.r(5), 1 << 13);
}

#[test]
fn saving_costs_a_cycle_a_word_when_it_happens() {
    // TRM 7.2.2 and ARM's figures: 17 words, at entry or at the first use. A return reads none if
    // none was saved.
    let cycles = |fpccr, handler: &str| {
        let board = after_call(fpccr, handler);
        board.core.cycles()
    };
    let untouched = cycles(LAZY, "bx lr");
    assert_eq!(cycles(EAGER, "bx lr"), untouched + 17 + 17);
    let touched = cycles(LAZY, "vmov s1, s1\n bx lr");
    assert_eq!(cycles(EAGER, "vmov s1, s1\n bx lr"), touched);
}

#[test]
fn fpca_follows_the_first_float_and_msr() {
    // B1.4.4, CONTROL.FPCA: `ExecuteFPCheck` sets it if FPCCR.ASPEN is set. It is also writable.
    for (fpccr, expected) in [(LAZY, [0, 4, 0, 4]), (OFF, [0, 0, 0, 4])] {
        let board = finished(&format!("poke CPACR, 0xf00000\n poke FPCCR, {fpccr}\n mrs r4, control\n vmov s0, r4\n mrs r5, control\n movs r0, #0\n msr control, r0\n isb\n mrs r6, control\n movs r0, #4\n msr control, r0\n isb\n mrs r7, control\n bkpt 0\n .pool"));
        assert_eq!(board.registers([4, 5, 6, 7]), expected, "{fpccr:#x}");
    }
}
