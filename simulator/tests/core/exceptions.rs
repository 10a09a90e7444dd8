//! Entry, return, priorities, masking and sleep (B1.5).

use crate::core::board::{finished_with, run, Board, CODE, STACK_TOP};

/// Enables lines 0–3 at priorities 0x40, 0x80, 0xC0, 0x80.
const LINES: &str = "poke IPR, 0x80c08040\n poke ISER, 0xf\n";

#[test]
fn svc_stacks_the_frame_of_the_manual() {
    // B1.5.6, `PushStack`: R0-R3, R12, LR, return address, xPSR; B1.5.3: SVCall is exception 11.
    let mut board = run("movs r0, #10\n movs r1, #11\n movs r2, #12\n movs r3, #13\n mov r12, #14\n mov lr, #15\n cmp r0, r0\n svc 7\n1: b 2f\n .pool\n function svcall\n mov r4, lr\n mrs r5, ipsr\n mov r6, sp\n ldr r7, [sp, #24]\n ldrb r8, [r7, #-2]\n bx lr\n2:");
    assert_eq!(
        board.registers([4, 5, 6]),
        [0xFFFF_FFF9, 11, STACK_TOP - 32]
    );
    assert_eq!(
        board.r(8),
        7,
        "the immediate, found before the return address"
    );
    let frame: Vec<u32> = (0..8)
        .map(|n| board.memory.word(STACK_TOP - 32 + 4 * n))
        .collect();
    assert_eq!(frame[..6], [10, 11, 12, 13, 14, 15]);
    assert_eq!(frame[7], 0x6100_0000);
    assert_eq!(board.r(13), STACK_TOP);
    assert_eq!(board.core.registers().xpsr() & 0xFF, 0);
}

#[test]
fn the_frame_is_aligned_to_eight_and_the_stack_restored() {
    // B1.5.7: CCR.STKALIGN. Bit 9 of the stacked xPSR says that the stack was moved.
    let board = run(
        "sub sp, #4\n svc 0\n b 1f\n function svcall\n mov r4, sp\n ldr r5, [sp, #28]\n bx lr\n1:",
    );
    assert_eq!(board.r(4), STACK_TOP - 40);
    assert_eq!(board.r(5) >> 9 & 1, 1);
    assert_eq!(board.r(13), STACK_TOP - 4);
}

#[test]
fn without_stkalign_the_frame_follows_the_stack() {
    // B1.5.7 and B3.2.8.
    let board = run("poke CCR, 0\n sub sp, #4\n svc 0\n b 1f\n .pool\n function svcall\n mov r4, sp\n ldr r5, [sp, #28]\n bx lr\n1:");
    assert_eq!(board.r(4), STACK_TOP - 36);
    assert_eq!(board.r(5) >> 9 & 1, 0);
}

#[test]
fn the_process_stack_serves_threads_only() {
    // B1.4.1 and B1.5.6: Handler mode uses the main stack, whatever CONTROL.SPSEL was.
    let board = run("ldr r0, =0x20001000\n msr psp, r0\n movs r0, #2\n msr control, r0\n isb\n mov r4, sp\n svc 0\n b 1f\n .pool\n function svcall\n mov r5, sp\n mov r6, lr\n mrs r7, psp\n bx lr\n1:");
    assert_eq!(
        board.registers([4, 5, 6, 7]),
        [0x2000_1000, STACK_TOP, 0xFFFF_FFFD, 0x2000_0FE0]
    );
    assert_eq!(
        (board.r(13), board.core.registers().msp()),
        (0x2000_1000, STACK_TOP)
    );
}

#[test]
fn an_interrupt_resumes_an_it_block_where_it_was() {
    // B1.4.2: ITSTATE is stacked with the xPSR.
    for delay in 20..60 {
        let board = finished_with(&format!("{LINES} movs r0, #1\n cmp r0, #1\n .rept 10\n itttt eq\n addeq r4, #1\n addeq r5, #1\n addeq r6, #1\n addeq r7, #1\n itete ne\n addne r8, #1\n addeq r9, #1\n addne r8, #1\n addeq r9, #1\n .endr\n bkpt 0\n .pool\n function irq0\n add r10, #1\n cmp r10, #99\n bx lr"), &[(delay, 0, true), (delay + 1, 0, false)]);
        assert_eq!(
            board.registers([4, 5, 6, 7, 8, 9, 10]),
            [10, 10, 10, 10, 0, 20, 1],
            "interrupt at cycle {delay}"
        );
    }
}

#[test]
fn basepri_masks_what_is_not_above_it() {
    // B1.4.3.
    let masked = format!("{LINES} movs r0, #0x80\n msr basepri, r0\n poke ISPR, 7\n nop\n mov r4, r8\n movs r0, #0\n msr basepri, r0\n nop\n b 1f\n .pool\n function irq0\n add r8, #1\n bx lr\n function irq1\n add r8, #0x10\n bx lr\n function irq2\n add r8, #0x100\n bx lr\n1:");
    let board = run(&masked);
    assert_eq!(board.r(4), 1, "only 0x40 is above 0x80");
    assert_eq!(board.r(8), 0x111);
}

#[test]
fn basepri_keeps_four_bits_and_basepri_max_only_raises() {
    // B1.4.3; B5.2.3, MSR: BASEPRI_MAX only raises the priority in BASEPRI, and 0 changes nothing.
    let board = run("movs r0, #0xff\n msr basepri, r0\n mrs r1, basepri\n movs r0, #0x50\n msr basepri_max, r0\n mrs r2, basepri\n movs r0, #0x90\n msr basepri_max, r0\n mrs r3, basepri\n movs r0, #0\n msr basepri_max, r0\n mrs r4, basepri");
    assert_eq!(board.registers([1, 2, 3, 4]), [0xF0, 0x50, 0x50, 0x50]);
}

#[test]
fn primask_holds_back_everything_and_faultmask_too() {
    // B1.4.3: PRIMASK is execution priority 0, FAULTMASK -1.
    for (mask, unmask) in [("cpsid i", "cpsie i"), ("cpsid f", "cpsie f")] {
        let board = run(&format!("{LINES} {mask}\n poke ISPR, 1\n nop\n mov r4, r8\n {unmask}\n nop\n b 1f\n .pool\n function irq0\n add r8, #1\n bx lr\n1:"));
        assert_eq!(board.registers([4, 8]), [0, 1], "{mask}");
    }
}

#[test]
fn a_higher_priority_preempts_and_an_equal_one_waits() {
    // B1.5.4. Line 2 (0xC0) runs first and pends 1 and 3 (0x80). Neither of these preempts the
    // other.
    let board = run(&format!("{LINES} poke ISPR, 4\n nop\n b 1f\n .pool\n function irq2\n poke ISPR, 0xa\n nop\n add r8, #1\n lsl r8, #4\n add r8, #2\n bx lr\n function irq1\n mrs r7, ipsr\n lsl r8, #4\n add r8, #3\n poke ISPR, 8\n nop\n lsl r8, #4\n add r8, #4\n bx lr\n function irq3\n lsl r8, #4\n add r8, #5\n bx lr\n .pool\n1:"));
    assert_eq!(board.r(7), 17);
    // irq1 (3 4), then irq3 (5), both inside irq2 after its store that pends them, then the rest of
    // 2.
    assert_eq!(board.r(8), (0x345 + 1) << 4 | 2);
}

#[test]
fn with_group_priorities_the_subpriority_only_orders() {
    // B3.2.6. With PRIGROUP 6 only bit 7 decides about preemption. 0x40 and 0x00 are in one group.
    let board = run("poke AIRCR, 0x05fa0600\n poke IPR, 0x00000040\n poke ISER, 3\n poke ISPR, 1\n nop\n b 1f\n .pool\n function irq0\n poke ISPR, 2\n nop\n lsl r8, #4\n add r8, #1\n bx lr\n function irq1\n lsl r8, #4\n add r8, #2\n bx lr\n .pool\n1:");
    assert_eq!(board.r(8), 0x12);
}

#[test]
fn pendsv_waits_for_the_lowest_priority() {
    // B1.5.3 and B3.2.4, ICSR.
    let board = run("poke SHPR3, 0x00f00000\n poke ICSR, 0x10000000\n nop\n b 1f\n .pool\n function pendsv\n mov r4, lr\n mrs r5, ipsr\n ldr r6, =ICSR\n ldr r6, [r6]\n bx lr\n1:");
    assert_eq!(board.registers([4, 5]), [0xFFFF_FFF9, 14]);
    assert_eq!(board.r(6) & 0x1FF, 14);
    assert_eq!(board.r(6) >> 11 & 1, 1, "RETTOBASE");
}

#[test]
fn a_line_that_stays_high_interrupts_again() {
    // B3.4.1: level-sensitive interrupts.
    let board = finished_with(&format!("{LINES}\n1: b 1b\n .pool\n function irq0\n add r8, #1\n cmp r8, #3\n beq 2f\n bx lr\n2: bkpt 0"), &[(60, 0, true)]);
    assert_eq!(board.r(8), 3);
}

#[test]
fn a_line_that_fell_stays_pending_once() {
    // B3.4.1: pulses are latched.
    let board = finished_with(&format!("{LINES} cpsid i\n .rept 100\n nop\n .endr\n cpsie i\n nop\n nop\n bkpt 0\n .pool\n function irq0\n add r8, #1\n bx lr"), &[(60, 0, true), (61, 0, false), (62, 0, true), (63, 0, false)]);
    assert_eq!(board.r(8), 1);
}

#[test]
fn a_late_arrival_is_taken_first() {
    // B1.5.11. Line 2 (0xC0) comes first, line 0 (0x40) while its frame is being stacked. There is
    // one frame, and line 0's handler runs first.
    let board = finished_with(&format!("{LINES} .rept 60\n nop\n .endr\n bkpt 0\n .pool\n function irq0\n lsl r8, #4\n add r8, #1\n mov r4, sp\n bx lr\n function irq2\n lsl r8, #4\n add r8, #2\n bx lr"), &[(60, 2, true), (64, 0, true), (65, 0, false), (66, 2, false)]);
    assert_eq!(board.registers([8, 4]), [0x12, STACK_TOP - 32]);
}

#[test]
fn wfi_sleeps_until_an_interrupt_even_when_primask_holds_it_back() {
    // B1.5.19.
    let board = finished_with(&format!("{LINES} cpsid i\n wfi\n mov r4, r8\n cpsie i\n nop\n bkpt 0\n .pool\n function irq0\n add r8, #1\n bx lr"), &[(5_000, 0, true), (5_001, 0, false)]);
    assert_eq!(board.registers([4, 8]), [0, 1]);
    assert!(board.core.cycles() > 5_000);
}

#[test]
fn an_event_lets_one_wfe_pass() {
    // B1.5.18: SEV sets the event register, WFE clears it.
    let board = finished_with(&format!("{LINES} sev\n wfe\n movs r4, #1\n wfe\n movs r5, #1\n bkpt 0\n .pool\n function irq0\n add r8, #1\n bx lr"), &[(5_000, 0, true), (5_001, 0, false)]);
    assert_eq!(board.registers([4, 5, 8]), [1, 1, 1]);
    assert!(board.core.cycles() > 5_000);
}

#[test]
fn the_vector_table_moves() {
    // B1.5.3 and B3.2.5, VTOR.
    let board = run("ldr r0, =0x20000200\n adr r1, 2f\n add r1, #1\n str r1, [r0, #44]\n ldr r2, =VTOR\n str r0, [r2]\n svc 0\n b 1f\n .pool\n .balign 4\n2: movs r4, #42\n bx lr\n1:");
    assert_eq!(board.r(4), 42);
}

#[test]
fn reset_takes_stack_and_entry_from_the_table() {
    // B1.5.5.
    let board = Board::new("nop");
    assert_eq!((board.r(13), board.core.pc() & !0xFFF), (STACK_TOP, CODE));
}
