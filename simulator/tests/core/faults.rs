//! Faults, their escalation, and lockup (B1.5.14–B1.5.15).

use crate::core::board::{finished, run, Board};
use cortex_m::Stop;

const READ_STATUS: &str = "ldr r4, [sp, #24]\n ldr r5, =CFSR\n ldr r6, [r5, #4]\n ldr r5, [r5]\n mrs r7, ipsr\n bkpt 0\n .pool\n";

#[test]
fn udf_is_a_usage_fault_where_that_is_enabled() {
    // B1.5.14, UNDEFINSTR; the enable is SHCSR.USGFAULTENA (B3.2.13).
    let board = finished(&format!("poke SHCSR, 0x40000\n adr r3, 1f\n b 1f\n .pool\n .balign 4\n1: udf 1\n function usage_fault\n {READ_STATUS}"));
    assert_eq!(
        board.r(4),
        board.r(3),
        "the return address is the instruction itself"
    );
    assert_eq!(board.registers([5, 6, 7]), [1 << 16, 0, 6]);
}

/// CFSR, HFSR and IPSR in the HardFault that `program` comes to.
fn hard_fault(program: &str) -> [u32; 3] {
    finished(&format!("{program}\n function hard_fault\n {READ_STATUS}")).registers([5, 6, 7])
}

#[test]
fn a_fault_without_handler_is_forced_to_hard_fault_and_says_why() {
    // B1.5.4: priority escalation; HFSR.FORCED (B3.2.16). The bits of CFSR are in B3.2.15.
    for (why, program, status) in [
        ("B1.5.14, UNDEFINSTR", "udf 1", 1 << 16),
        ("a load neither indexed nor written back", ".inst.w 0xf8500804", 1 << 16),
        ("B1.5.4: SVC under PRIMASK", "cpsid i\n svc 0", 0),
        ("B3.2.8, CCR.DIV_0_TRP", "poke CCR, 0x210\n movs r1, #0\n udiv r0, r0, r1\n .pool", 1 << 25),
        ("code of nowhere", "ldr r0, =0x10000001\n bx r0\n .pool", 1 << 8),
        ("STKERR: a stack out of memory", "sub sp, #32\n ldr r0, =0x10000000\n msr psp, r0\n movs r0, #2\n msr control, r0\n isb\n svc 0\n .pool", 1 << 12),
        ("B1.5.8, INVPC: to a handler, and none is active", "svc 0\n function svcall\n ldr r0, =0xfffffff1\n bx r0\n .pool", 1 << 18),
        ("unprivileged code masks nothing and sees no system space", "movs r0, #1\n msr control, r0\n isb\n cpsid i\n mrs r0, primask\n cbz r0, 1f\n bkpt 1\n1: ldr r0, =ICSR\n ldr r0, [r0]\n .pool", 0x8200),
        ("unprivileged loads do not see it either", "ldr r0, =ICSR\n ldr r1, [r0]\n ldrt r1, [r0]\n .pool", 0x8200),
        ("INVSTATE: a branch to an even address", "adr r0, 1f\n bx r0\n .balign 4\n1: nop", 1 << 17),
        // B1.5.6: ExceptionTaken loads EPSR.T from the vector. A4.1.1: an instruction with T clear
        // is INVSTATE.
        ("an even vector", "ldr r0, =0x20000200\n adr r1, 2f\n str r1, [r0, #44]\n ldr r1, =hard_fault\n str r1, [r0, #12]\n ldr r2, =VTOR\n str r0, [r2]\n svc 0\n .pool\n .balign 4\n2: nop", 1 << 17),
        // B1.5.14 and A5.3.18, NOCP: CDP, MCR, MRC2, LDC and MCRR of coprocessors 0, 15, 7, 1 and 9.
        ("CDP", ".inst.w 0xee000000\n bkpt 1", 1 << 19),
        ("MCR", ".inst.w 0xee010f10\n bkpt 1", 1 << 19),
        ("MRC2", ".inst.w 0xfe110710\n bkpt 1", 1 << 19),
        ("LDC", ".inst.w 0xed900100\n bkpt 1", 1 << 19),
        ("MCRR", ".inst.w 0xec410900\n bkpt 1", 1 << 19),
        ("a buffered store", "ldr r0, =0x30000004\n str r1, [r0]\n nop\n nop\n .pool", 1 << 10),
    ] {
        assert_eq!(hard_fault(program), [status, 1 << 30, 3], "{why}");
    }
}

#[test]
fn executing_from_a_device_is_an_access_violation() {
    let board = finished(&format!(
        "ldr r0, =0x40000001\n bx r0\n .pool\n function hard_fault\n {READ_STATUS}"
    ));
    assert_eq!(board.registers([4, 5]), [0x4000_0000, 1]);
}

#[test]
fn status_bits_clear_by_writing_ones() {
    let board = run("b 2f\n function hard_fault\n ldr r5, =CFSR\n ldr r6, [r5]\n str r6, [r5]\n ldr r7, [r5]\n ldr r0, [sp, #24]\n adds r0, #2\n str r0, [sp, #24]\n bx lr\n .pool\n2: udf 1\n");
    assert_eq!(board.registers([6, 7]), [1 << 16, 0]);
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
    let stop = Board::new(".inst.w 0xef000000").stop();
    let Stop::Undefined { opcode, pc } = stop else {
        panic!("{stop}")
    };
    assert_eq!(opcode, 0xEF00_0000);
    assert_eq!(
        stop.to_string(),
        format!("instruction 0xef000000 is undefined or not modelled (pc {pc:#010x})")
    );
}

#[test]
fn a_coprocessor_that_is_not_there_is_not_reached_without_its_condition() {
    // If its condition fails, the instruction does not reach the coprocessor (A7.3.2).
    let board = run("movs r0, #1\n it eq\n .inst.w 0xee000000\n movs r7, #7");
    assert_eq!(board.r(7), 7);
}

#[test]
fn a_reset_request_stops_the_run() {
    let stop = Board::new("poke AIRCR, 0x05fa0004\n .pool").stop();
    assert!(matches!(stop, Stop::ResetRequested { .. }), "{stop}");
}

#[test]
fn a_buffered_store_fails_later_and_without_an_address() {
    // B3.2.15, IMPRECISERR; Cortex-M4 TRM 3.3.3: stores to memory that answers nowhere go through
    // the write buffer.
    let board = finished(&format!("poke SHCSR, 0x20000\n ldr r0, =0x30000004\n adr r3, 1f\n b 2f\n .pool\n .balign 4\n2: str r1, [r0]\n1: nop\n function bus_fault\n {READ_STATUS}"));
    assert_eq!(board.registers([5, 7]), [1 << 10, 5]);
    assert!(board.r(4) >= board.r(3), "the store itself is over");
}

#[test]
fn without_the_write_buffer_a_store_fails_at_once() {
    let board = finished("poke SHCSR, 0x20000\n poke 0xE000E008, 2\n ldr r0, =0x30000004\n str r1, [r0]\n .pool\n function bus_fault\n ldr r1, =CFSR\n ldr r2, [r1]\n ldr r3, [r1, #16]\n bkpt 0");
    assert_eq!(board.registers([2, 3]), [0x8200, 0x3000_0004]);
}

#[test]
fn an_imprecise_fault_waits_under_basepri() {
    // B1.5.14: an asynchronous fault pends. It becomes a HardFault only if it is disabled.
    let masked = "poke SHCSR, 0x20000\n poke 0xE000ED18, 0xc000\n movs r0, #0x80\n msr basepri, r0\n ldr r0, =0x30000004\n str r1, [r0]\n nop\n mov r8, r9\n movs r0, #0\n msr basepri, r0\n nop\n b 1f\n .pool\n function bus_fault\n mov r9, #1\n bx lr\n1:";
    let board = run(masked);
    assert_eq!(board.registers([8, 9]), [0, 1]);
}

#[test]
fn a_frame_without_the_thumb_bit_returns_to_an_invalid_state() {
    // A4.1.1: an instruction with T clear is INVSTATE, even if it has been executed before.
    let board = finished(&format!("adr r3, 1f\n movs r2, #0\n bl 1f\n svc 0\n .pool\n .balign 4\n1: adds r2, #1\n bx lr\n function svcall\n str r3, [sp, #24]\n movs r0, #0\n str r0, [sp, #28]\n bx lr\n function hard_fault\n {READ_STATUS}"));
    assert_eq!((board.r(4), board.r(2)), (board.r(3), 1));
    assert_eq!(board.registers([5, 6, 7]), [1 << 17, 1 << 30, 3]);
}

#[test]
fn floating_point_needs_the_coprocessor_and_the_privilege() {
    // B3.2.20: CP10 and CP11 = 1 allow access to privileged code only.
    for (cpacr, control, faults) in [
        (0, 0, true),
        (5 << 20, 0, false),
        (5 << 20, 1, true),
        (15 << 20, 1, false),
    ] {
        let board = finished(&format!("poke CPACR, {cpacr}\n movs r0, #{control}\n msr control, r0\n isb\n movs r5, #0\n vmov s0, r5\n bkpt 0\n .pool\n function hard_fault\n {READ_STATUS}"));
        assert_eq!(
            board.r(5),
            if faults { 1 << 19 } else { 0 },
            "CPACR {cpacr:#x}, CONTROL {control}"
        );
    }
}

#[test]
fn narrow_writes_clear_only_their_part_of_the_status() {
    let board = run("b 2f\n function hard_fault\n ldr r5, =CFSR\n ldr r0, [sp, #24]\n adds r0, #2\n str r0, [sp, #24]\n bx lr\n .pool\n2: udf 1\n ldr r5, =CFSR\n movs r1, #0xff\n strb r1, [r5]\n strb r1, [r5, #1]\n ldr r6, [r5]\n strh r1, [r5, #2]\n ldr r7, [r5]\n");
    assert_eq!(board.registers([6, 7]), [1 << 16, 0]);
}

#[test]
fn stir_serves_unprivileged_code_that_may_use_it() {
    // B3.2.26 and CCR.USERSETMPEND.
    let program = |ccr: u32| {
        format!("poke ISER, 1\n poke CCR, {ccr}\n ldr r1, =0xE000EF00\n movs r0, #1\n msr control, r0\n isb\n movs r0, #0\n str r0, [r1]\n nop\n bkpt 0\n .pool\n function irq0\n mov r8, #1\n bx lr\n function hard_fault\n mov r9, #1\n bkpt 0")
    };
    for (ccr, taken, refused) in [(0x202, 1, 0), (0x200, 0, 1)] {
        let board = finished(&program(ccr));
        assert_eq!(board.registers([8, 9]), [taken, refused]);
    }
}

#[test]
fn a_fault_at_hard_fault_s_priority_or_above_locks_up() {
    // B1.5.15: in NMI, under FAULTMASK, and in HardFault. B1.5.14, VECTTBL: HardFault's own vector is
    // read from the table that cannot be read.
    let nmi = "poke ICSR, 0x80000000\n nop\n bkpt 1\n .pool\n function nmi\n udf 1";
    let svc = "udf 1\n function hard_fault\n svc 0";
    let load = "udf 1\n function hard_fault\n ldr r0, =0x30000000\n ldr r0, [r0]\n .pool";
    let fetch = "cpsid f\n ldr r0, =0x10000001\n bx r0\n .pool";
    for (program, cause) in [
        (nmi, "a UsageFault"),
        ("cpsid f\n udf 1", "a UsageFault"),
        (svc, "an SVC"),
        (load, "a BusFault"),
        (fetch, "a BusFault"),
        ("udf 1\n function hard_fault\n udf 2", "a UsageFault"),
        (
            "ldr r2, =VTOR\n ldr r0, =0x10000000\n str r0, [r2]\n svc 0\n .pool",
            "HardFault",
        ),
    ] {
        let stop = Board::new(program).stop();
        assert!(matches!(stop, Stop::Lockup { .. }), "{program}: {stop}");
        assert!(stop.to_string().contains(cause), "{program}: {stop}");
    }
}
