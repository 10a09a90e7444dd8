//! Priorities, grouping and masks (B1.5.4, B3.2.6, B1.4.3).

use crate::core::board::run;

/// Handlers append their line's number plus one to r8, as hexadecimal digits.
const HANDLERS: &str = "b 1f\n .pool\n function irq0\n lsl r8, #4\n add r8, #1\n bx lr\n function irq1\n lsl r8, #4\n add r8, #2\n bx lr\n function irq2\n lsl r8, #4\n add r8, #3\n bx lr\n function nmi\n lsl r8, #4\n add r8, #9\n bx lr\n function pendsv\n lsl r8, #4\n add r8, #0xe\n bx lr\n function systick\n lsl r8, #4\n add r8, #0xf\n bx lr\n1:";

/// r8 after `program`.
fn order(program: &str) -> u32 {
    run(&format!("poke ISER, 7\n {program}\n {HANDLERS}")).r(8)
}

#[test]
fn the_group_decides_who_preempts_and_the_rest_who_comes_first() {
    // B3.2.6: with PRIGROUP = n, bits 7 to n + 1 are the group. Line 2 has priority 0x60. It pends
    // lines 1 (0x50) and 0 (0x40), then appends its own digit.
    for (prigroup, expected) in [
        (0, 0x123), // all four bits group: line 0 preempts, then line 1
        (4, 0x123), // bits 7 to 5: 0x40 and 0x50 are one group, above that of 0x60
        (5, 0x312), // bits 7 to 6: all in one group, nothing preempts; then by subpriority
        (7, 0x312), // no group at all
    ] {
        let program = format!("poke AIRCR, 0x05fa0000 + {prigroup} * 256\n poke IPR, 0x605040\n poke ISPR, 4\n nop\n nop\n b 3f\n .pool\n3:");
        let pends = HANDLERS
            .replace(
                "function irq2\n",
                "function irq2\n poke ISPR, 3\n nop\n nop\n",
            )
            .replace("bx lr\n function nmi", "bx lr\n .pool\n function nmi");
        let board = run(&format!("poke ISER, 7\n {program}\n {pends}"));
        assert_eq!(board.r(8), expected, "PRIGROUP {prigroup}");
    }
}

#[test]
fn basepri_compares_groups() {
    // `ExecutionPriority`: BASEPRI loses its subpriority bits. With PRIGROUP 5, 0x50 masks all of
    // 0x40 to 0x7F.
    for (prigroup, expected) in [(0, 1), (5, 0)] {
        let program = format!("poke AIRCR, 0x05fa0000 + {prigroup} * 256\n poke IPR, 0x40\n movs r0, #0x50\n msr basepri, r0\n poke ISPR, 1\n nop\n mov r7, r8\n movs r0, #0\n msr basepri, r0\n nop");
        let board = run(&format!("poke ISER, 7\n {program}\n {HANDLERS}"));
        assert_eq!(
            board.registers([7, 8]),
            [expected, 1],
            "PRIGROUP {prigroup}"
        );
    }
}

#[test]
fn a_priority_has_four_bits_and_a_key_guards_the_grouping() {
    let board = run("poke IPR, 0xffffffff\n ldr r4, [r0]\n poke SHPR3, 0xffffffff\n ldr r5, [r0]\n poke AIRCR, 0x05fa0500\n poke AIRCR, 0x12340300\n ldr r6, [r0]");
    assert_eq!(
        board.registers([4, 5, 6]),
        [0xF0F0_F0F0, 0xF0F0_00F0, 0xFA05_0500]
    );
}

#[test]
fn of_equal_priorities_the_lower_number_comes_first() {
    // PendSV and SysTick are pended by ICSR, lines 0 and 1 by ISPR. All have priority 0.
    assert_eq!(
        order("cpsid i\n poke ISPR, 3\n poke ICSR, 0x14000000\n cpsie i\n nop"),
        0xEF12
    );
}

#[test]
fn pending_can_be_taken_back() {
    assert_eq!(order("cpsid i\n poke ISPR, 3\n poke 0xE000E280, 1\n poke ICSR, 0x14000000\n poke ICSR, 0x0a000000\n cpsie i\n nop"), 2);
}

#[test]
fn a_disabled_line_stays_pending() {
    assert_eq!(order("poke 0xE000E180, 1\n poke ISPR, 1\n nop\n mov r7, r8\n lsl r8, #8\n add r8, #0xaa\n poke ISER, 1\n nop"), 0xAA1);
}

#[test]
fn nmi_passes_every_mask_and_its_return_leaves_faultmask() {
    // `DeActivate` (B1.5.8): a return from any handler but NMI clears FAULTMASK.
    let board = run(&format!("cpsid f\n cpsid i\n poke ICSR, 0x80000000\n nop\n mrs r6, faultmask\n mov r7, r8\n {HANDLERS}"));
    assert_eq!(board.registers([6, 7]), [1, 9]);
}

#[test]
fn a_handler_s_return_clears_faultmask_and_leaves_primask() {
    let board = run("svc 0\n mrs r4, faultmask\n mrs r5, primask\n b 1f\n function svcall\n cpsid f\n cpsid i\n mrs r6, faultmask\n bx lr\n1:");
    assert_eq!(board.registers([4, 5, 6]), [0, 1, 1]);
}

#[test]
fn faultmask_cannot_be_set_in_nmi() {
    // B1.4.3: only if the execution priority is above -1.
    let board = run("poke ICSR, 0x80000000\n nop\n b 1f\n .pool\n function nmi\n cpsid f\n mrs r6, faultmask\n add r7, #1\n bx lr\n1:");
    assert_eq!(board.registers([6, 7]), [0, 1]);
}

#[test]
fn basepri_does_not_lower_a_handler() {
    // Line 0 (0x40) runs and sets BASEPRI to 0x80. Line 1 (0x60) still waits until line 0 ends.
    let board = run("poke ISER, 7\n poke IPR, 0x6040\n poke ISPR, 1\n nop\n b 1f\n .pool\n function irq0\n movs r0, #0x80\n msr basepri, r0\n poke ISPR, 2\n nop\n mov r7, r8\n bx lr\n .pool\n function irq1\n mov r8, #1\n bx lr\n1:");
    assert_eq!(board.registers([7, 8]), [0, 1]);
}

#[test]
fn a_fault_of_a_handler_above_its_fault_s_priority_escalates() {
    // B1.5.4: UsageFault has priority 0x80, line 0's handler 0x40.
    let board = run("poke SHCSR, 0x40000\n poke 0xE000ED18, 0x800000\n poke IPR, 0x40\n poke ISER, 1\n poke ISPR, 1\n nop\n b 1f\n .pool\n function irq0\n udf 1\n bx lr\n function hard_fault\n mov r8, #3\n ldr r1, [sp, #24]\n adds r1, #2\n str r1, [sp, #24]\n bx lr\n function usage_fault\n mov r8, #6\n bx lr\n1:");
    assert_eq!(board.r(8), 3);
}
