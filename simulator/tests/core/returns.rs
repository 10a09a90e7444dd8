//! Every form of EXC_RETURN and its integrity checks (B1.5.8).

use crate::core::board::{finished, run, Board, STACK_TOP};

const REPORT: &str = "function hard_fault\n mov r9, lr\n ldr r5, =CFSR\n ldr r5, [r5]\n mrs r7, ipsr\n bkpt 0\n .pool\n";

/// CFSR, IPSR and LR in the handler of the fault that a return from SVCall with r0 raises.
fn refused(before: &str, inside: &str) -> (u32, u32, u32) {
    let board = finished(&format!(
        "{before}\n svc 0\n bkpt 1\n .pool\n function svcall\n {inside}\n .pool\n {REPORT}"
    ));
    (board.r(5), board.r(7), board.r(9))
}

const INVPC: u32 = 1 << 18;

#[test]
fn returns_are_taken_by_every_way_into_the_pc() {
    for leave in [
        "bx lr",
        "push {lr}\n pop {pc}",
        "push {r4, lr}\n pop {r4, pc}",
        "str lr, [sp, #-4]!\n ldr pc, [sp], #4",
        "push {lr}\n ldmia sp!, {pc}",
    ] {
        let board = run(&format!(
            "svc 0\n mrs r4, ipsr\n b 1f\n function svcall\n mrs r5, ipsr\n {leave}\n1:"
        ));
        assert_eq!(board.registers([4, 5, 13]), [0, 11, STACK_TOP], "{leave}");
    }
}

#[test]
fn a_mov_to_the_pc_is_no_return() {
    // B1.5.8: only BX, POP, LDM and LDR return. MOV PC branches, here to a region where nothing may
    // execute.
    assert_eq!(refused("", "mov pc, lr").0, 1, "IACCVIOL");
}

#[test]
fn unknown_forms_are_refused() {
    for value in [
        "0xfffffff0",
        "0xfffffff3",
        "0xfffffff5",
        "0xffffffff",
        "0xffffffe3",
    ] {
        let (cfsr, ipsr, lr) = refused("", &format!("ldr r0, ={value}\n bx r0"));
        assert_eq!((cfsr, ipsr), (INVPC, 3), "{value}");
        assert_eq!(format!("{lr:#x}"), value, "EXC_RETURN goes to LR");
    }
}

#[test]
fn to_thread_mode_with_another_handler_active_is_refused_unless_allowed() {
    let inner = |ccr: u32| {
        format!("poke CCR, {ccr}\n poke ICSR, 0x80000000\n nop\n bkpt 2\n .pool\n function nmi\n ldr r1, [sp, #28]\n lsrs r1, #9\n lsls r1, #9\n str r1, [sp, #28]\n ldr r0, =0xfffffff9\n bx r0")
    };
    let board = finished(&format!(
        "svc 0\n .pool\n function svcall\n {}\n .pool\n {REPORT}",
        inner(0x200)
    ));
    assert_eq!(board.registers([5, 7]), [INVPC, 3]);
    let mut board = Board::new(&format!(
        "svc 0\n .pool\n function svcall\n {}\n .pool\n {REPORT}",
        inner(0x201)
    ));
    let stop = board.stop().to_string();
    assert!(stop.starts_with("breakpoint 2"), "NONBASETHRDENA: {stop}");
    assert_eq!(board.core.registers().xpsr() & 0x1FF, 0);
}

#[test]
fn the_frame_s_ipsr_must_agree_with_the_mode() {
    let to_thread = refused(
        "",
        "ldr r1, [sp, #28]\n orr r1, #14\n str r1, [sp, #28]\n bx lr",
    );
    assert_eq!(to_thread, (INVPC, 3, 0xFFFF_FFF9));
    let to_handler = refused("", "ldr r0, =0xfffffff1\n bx r0");
    assert_eq!(to_handler, (INVPC, 3, 0xFFFF_FFF1));
}

#[test]
fn a_refused_frame_is_still_on_its_stack() {
    let board = finished("ldr r0, =0x20001000\n msr psp, r0\n movs r0, #2\n msr control, r0\n isb\n svc 0\n .pool\n function svcall\n mrs r0, psp\n ldr r1, [r0, #28]\n orr r1, #14\n str r1, [r0, #28]\n bx lr\n function hard_fault\n mrs r6, psp\n bkpt 0");
    assert_eq!(board.r(6), 0x2000_1000 - 32);
}

#[test]
fn returning_from_what_is_not_active_is_refused() {
    // SHCSR.SVCALLACT is cleared while the handler is still running.
    assert_eq!(refused("", "poke SHCSR, 0\n bx lr").0, INVPC);
}

#[test]
fn nested_handlers_return_to_each_other_and_to_either_stack() {
    let board = run("poke ISER, 3\n poke IPR, 0x4080\n ldr r0, =0x20001000\n msr psp, r0\n movs r0, #2\n msr control, r0\n isb\n poke ISPR, 1\n nop\n mov r10, sp\n b 1f\n .pool\n function irq0\n mov r4, lr\n poke ISPR, 2\n nop\n mov r6, sp\n bx r4\n .pool\n function irq1\n mov r5, lr\n mov r7, sp\n bx lr\n1:");
    assert_eq!(board.registers([4, 5]), [0xFFFF_FFFD, 0xFFFF_FFF1]);
    assert_eq!(board.registers([6, 7]), [STACK_TOP, STACK_TOP - 32]);
    assert_eq!(board.r(10), 0x2000_1000);
}

#[test]
fn a_handler_may_send_its_return_to_the_other_stack() {
    // As schedulers start their first task: a frame written by hand on the process stack.
    let board = run("ldr r0, =0x20000fe0\n msr psp, r0\n adr r1, 2f\n str r1, [r0, #24]\n movs r1, #77\n str r1, [r0]\n mov r1, #0x01000000\n str r1, [r0, #28]\n svc 0\n .pool\n .balign 4\n2: b 1f\n function svcall\n ldr r0, =0xfffffffd\n bx r0\n .pool\n1: mrs r4, control");
    assert_eq!(board.registers([0, 4, 13]), [77, 2, 0x2000_1000]);
}

/// Floats used or not, the process stack or not, and the value of LR for each.
const FORMS: [(&str, &str, u32); 4] = [
    ("nop", "nop", 0xFFFF_FFF9),
    ("nop", "movs r0, #2\n msr control, r0\n isb", 0xFFFF_FFFD),
    ("vmov s0, r0", "nop", 0xFFFF_FFE9),
    (
        "vmov s0, r0",
        "movs r0, #6\n msr control, r0\n isb",
        0xFFFF_FFED,
    ),
];

#[test]
fn the_value_tells_mode_stack_and_frame() {
    // B1.5.8, table B1-8: bits 0 and 3 are the mode, bit 2 the stack. Bit 4 clear is a frame with
    // floats (0x68 bytes, else 0x20).
    for (float, stack, expected) in FORMS {
        let board = run(&format!("poke CPACR, 0xf00000\n ldr r0, =0x20001000\n msr psp, r0\n {stack}\n {float}\n mov r10, sp\n svc 0\n mov r11, sp\n b 1f\n .pool\n function svcall\n mov r4, lr\n mrs r5, psp\n mov r6, sp\n mrs r7, control\n bx lr\n1:"));
        assert_eq!(board.r(4), expected);
        let bytes = if expected & 0x10 == 0 { 0x68 } else { 0x20 };
        let frame = if expected & 4 == 0 {
            board.r(6)
        } else {
            board.r(5)
        };
        assert_eq!(frame, board.r(10) - bytes, "{expected:#x}");
        assert_eq!(board.r(11), board.r(10), "{expected:#x}");
        assert_eq!(board.r(7) & 4, 0, "FPCA is the handler's own (B1.5.6)");
        let fpca = if expected & 0x10 == 0 { 4 } else { 0 };
        assert_eq!(board.core.registers().control & 4, fpca, "{expected:#x}");
    }
}

#[test]
fn a_return_to_a_handler_has_both_frames_too() {
    // B1.5.8: 0xFFFFFFF1 and 0xFFFFFFE1.
    for (float, expected) in [("nop", 0xFFFF_FFF1), ("vmov s0, r0", 0xFFFF_FFE1)] {
        let board = run(&format!("poke CPACR, 0xf00000\n svc 0\n b 1f\n .pool\n function svcall\n mov r9, lr\n {float}\n poke ICSR, 0x80000000\n nop\n nop\n mrs r5, ipsr\n bx r9\n .pool\n function nmi\n mov r4, lr\n bx lr\n1:"));
        assert_eq!(
            (board.r(4), board.r(5), board.r(13)),
            (expected, 11, STACK_TOP)
        );
    }
}
