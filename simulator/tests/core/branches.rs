//! Calls, interworking and breakpoints. What branches and IT blocks do, the differential test compares.

use crate::core::board::{finished, Board, CODE};
use cortex_m::Stop;

#[test]
fn calls_leave_the_return_address_with_bit_0_set() {
    let board = finished("bl 1f\n bkpt 0\n1: mov r1, lr\n adr r2, 2f + 1\n mov r4, lr\n blx r2\n3: bx r4\n.balign 4\n2: mov r3, lr\n bx lr");
    let start = board.r(1) - 5;
    assert_eq!(board.r(1) & 1, 1);
    assert_eq!(board.r(1), start + 5);
    assert_eq!(board.r(3) & 1, 1);
}

#[test]
fn a_load_to_pc_interworks() {
    let board = finished("ldr r0, =1f + 1\n push {r0}\n pop {pc}\n bkpt 1\n .balign 4\n1: movs r1, #1\n adr r2, 2f\n ldr pc, [r2]\n bkpt 2\n .balign 4\n2: .word 3f + 1\n3: bkpt 0\n .pool");
    assert_eq!(board.r(1), 1);
}

#[test]
fn leaving_thumb_state_is_a_usage_fault_at_the_target() {
    let board = finished("ldr r0, =0x08000200\n bx r0\n .pool\n function hard_fault\n ldr r1, [sp, #24]\n ldr r2, =CFSR\n ldr r2, [r2]\n bkpt 0");
    assert_eq!(board.registers([1, 2]), [CODE + 0x200, 1 << 17]);
}

#[test]
fn a_breakpoint_stops_with_its_number() {
    let stop = Board::new("movs r0, #1\n cmp r0, #2\n it eq\n bkpt 77").stop();
    assert!(
        matches!(stop, Stop::Breakpoint { immediate: 77, .. }),
        "BKPT is unconditional: {stop}"
    );
}
