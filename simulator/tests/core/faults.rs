//! Faults, their escalation, and lockup (B1.5.14–B1.5.15).

use crate::board::{run, Board};
use virtual_nucleo::core::Stop;

const READ_STATUS: &str = "ldr r4, [sp, #24]\n ldr r5, =CFSR\n ldr r6, [r5, #4]\n ldr r5, [r5]\n mrs r7, ipsr\n bkpt 0\n .pool\n";

#[test]
fn udf_is_a_usage_fault_where_that_is_enabled() {
    let mut board = Board::new(&format!("poke SHCSR, 0x40000\n adr r3, 1f\n b 1f\n .pool\n .balign 4\n1: udf 1\n function usage_fault\n {READ_STATUS}"));
    board.finish();
    assert_eq!(
        board.r(4),
        board.r(3),
        "the return address is the instruction itself"
    );
    assert_eq!((board.r(5), board.r(6), board.r(7)), (1 << 16, 0, 6));
}

#[test]
fn a_load_that_is_neither_indexed_nor_written_back_is_undefined() {
    let mut board = Board::new(&format!(
        ".inst.w 0xf8500804\n function hard_fault\n {READ_STATUS}"
    ));
    board.finish();
    assert_eq!(board.r(5), 1 << 16);
}

#[test]
fn a_fault_without_handler_is_forced_to_hard_fault() {
    let mut board = Board::new(&format!("udf 1\n function hard_fault\n {READ_STATUS}"));
    board.finish();
    assert_eq!((board.r(5), board.r(6), board.r(7)), (1 << 16, 1 << 30, 3));
}

#[test]
fn svc_under_primask_escalates() {
    let mut board = Board::new(&format!(
        "cpsid i\n svc 0\n function hard_fault\n {READ_STATUS}"
    ));
    board.finish();
    assert_eq!((board.r(5), board.r(6), board.r(7)), (0, 1 << 30, 3));
}

#[test]
fn a_fault_in_hard_fault_locks_up() {
    let stop = Board::new("udf 1\n function hard_fault\n udf 2").stop();
    assert!(matches!(stop, Stop::Lockup { .. }), "{stop}");
    assert!(stop.to_string().contains("a UsageFault"), "{stop}");
}

#[test]
fn division_by_zero_faults_when_asked_to() {
    let mut board = Board::new(&format!("poke CCR, 0x210\n movs r1, #0\n udiv r0, r0, r1\n .pool\n function hard_fault\n {READ_STATUS}"));
    board.finish();
    assert_eq!(board.r(5), 1 << 25);
}

#[test]
fn executing_from_a_device_is_an_access_violation() {
    let mut board = Board::new(&format!(
        "ldr r0, =0x40000001\n bx r0\n .pool\n function hard_fault\n {READ_STATUS}"
    ));
    board.finish();
    assert_eq!((board.r(4), board.r(5)), (0x4000_0000, 1));
}

#[test]
fn executing_from_nowhere_is_an_instruction_bus_error() {
    let mut board = Board::new(&format!(
        "ldr r0, =0x10000001\n bx r0\n .pool\n function hard_fault\n {READ_STATUS}"
    ));
    board.finish();
    assert_eq!(board.r(5), 1 << 8);
}

#[test]
fn a_stack_that_runs_out_of_memory_is_a_stacking_error() {
    let mut board = Board::new("ldr r0, =0x10000000\n msr psp, r0\n movs r0, #2\n msr control, r0\n isb\n svc 0\n .pool\n function hard_fault\n ldr r5, =CFSR\n ldr r5, [r5]\n bkpt 0\n .pool");
    board.finish();
    assert_eq!(board.r(5), 1 << 12);
}

#[test]
fn an_illegal_return_is_refused() {
    let mut board = Board::new(&format!("svc 0\n function svcall\n ldr r0, =0xfffffff1\n bx r0\n .pool\n function hard_fault\n {READ_STATUS}"));
    board.finish();
    assert_eq!(board.r(5), 1 << 18, "to a handler, and none is active");
}

#[test]
fn status_bits_clear_by_writing_ones() {
    let board = run("b 2f\n function hard_fault\n ldr r5, =CFSR\n ldr r6, [r5]\n str r6, [r5]\n ldr r7, [r5]\n ldr r0, [sp, #24]\n adds r0, #2\n str r0, [sp, #24]\n bx lr\n .pool\n2: udf 1\n");
    assert_eq!((board.r(6), board.r(7)), (1 << 16, 0));
}

#[test]
fn unprivileged_code_does_not_see_the_system_space() {
    let mut board = Board::new(&format!("movs r0, #1\n msr control, r0\n isb\n cpsid i\n mrs r8, primask\n ldr r0, =ICSR\n ldr r0, [r0]\n .pool\n function hard_fault\n {READ_STATUS}"));
    board.finish();
    assert_eq!((board.r(5), board.r(8)), (0x8200, 0));
}

#[test]
fn unprivileged_loads_do_not_see_the_system_space_either() {
    let mut board = Board::new(&format!(
        "ldr r0, =ICSR\n ldr r1, [r0]\n ldrt r1, [r0]\n .pool\n function hard_fault\n {READ_STATUS}"
    ));
    board.finish();
    assert_eq!(board.r(5), 0x8200);
}

#[test]
fn unpredictable_encodings_and_places_stop_with_their_reason() {
    // MUL with SP as operand; B and IT inside an IT block; BX before its end.
    for (source, opcode) in [
        (".inst.w 0xfb0df001", 0xFB0D_F001),
        (".inst.n 0xbfe8\n .inst.n 0xd0fe", 0xD0FE),
        (".inst.n 0xbfe8\n .inst.n 0xbfe8", 0xBFE8),
        (".inst.n 0xbf04\n .inst.n 0x4770\n nop", 0x4770),
    ] {
        let stop = Board::new(source).stop();
        let Stop::Unpredictable { opcode: found, .. } = stop else {
            panic!("{source}: {stop}")
        };
        assert_eq!(found, opcode);
        assert!(stop.to_string().contains("UNPREDICTABLE"), "{stop}");
    }
}

#[test]
fn unknown_encodings_stop_with_opcode_and_address() {
    let stop = Board::new(".inst.w 0xee000000").stop();
    let Stop::Undefined { opcode, pc } = stop else {
        panic!("{stop}")
    };
    assert_eq!(opcode, 0xEE00_0000);
    assert_eq!(
        stop.to_string(),
        format!("instruction 0xee000000 is undefined or not modelled (pc {pc:#010x})")
    );
}

#[test]
fn the_mpu_and_a_reset_request_stop_the_run() {
    let stop = Board::new("poke 0xE000ED94, 1\n .pool").stop();
    assert!(
        matches!(
            stop,
            Stop::Unmodelled {
                address: 0xE000_ED94,
                ..
            }
        ),
        "{stop}"
    );
    let stop = Board::new("poke AIRCR, 0x05fa0004\n .pool").stop();
    assert!(matches!(stop, Stop::ResetRequested { .. }), "{stop}");
}
