//! WFI, WFE, events and sleep on exit (B1.5.17–B1.5.19).

use crate::core::board::{finished, finished_with, Board};

const SCR: &str = ".equ SCR, 0xE000ED10\n poke ISER, 1\n";

#[test]
fn sleep_on_exit_keeps_the_thread_from_running() {
    // Three interrupts. The third clears SLEEPONEXIT, so the thread goes on.
    let mut board = Board::new(&format!("{SCR} poke SCR, 2\n movs r7, #0\n wfi\n mov r7, r8\n bkpt 0\n .pool\n function irq0\n add r8, #1\n cmp r8, #3\n bne 1f\n poke SCR, 0\n1: bx lr\n .pool"));
    for n in 0..3 {
        board.lines.push((1_000 * (n + 1), 0, true));
        board.lines.push((1_000 * (n + 1) + 2, 0, false));
    }
    board.finish();
    assert_eq!(board.r(7), 3);
    assert!(board.core.cycles() > 3_000);
}

#[test]
fn sleep_on_exit_waits_for_the_last_handler() {
    // Line 1 preempts line 0. A return to a handler does not sleep.
    let board = finished(".equ SCR, 0xE000ED10\n poke ISER, 3\n poke IPR, 0x0080\n poke SCR, 2\n poke ISPR, 1\n nop\n bkpt 1\n .pool\n function irq0\n poke ISPR, 2\n nop\n nop\n bkpt 0\n .pool\n function irq1\n add r8, #1\n bx lr");
    assert_eq!(board.r(8), 1);
}

#[test]
fn sevonpend_makes_a_disabled_interrupt_an_event() {
    let program = |scr: u32| {
        format!(".equ SCR, 0xE000ED10\n poke SCR, {scr}\n wfe\n mov r7, r8\n bkpt 0\n .pool\n function systick\n mov r8, #1\n bx lr\n")
    };
    let board = finished_with(&program(0x10), &[(2_000, 0, true), (9_000, 3, true)]);
    assert!(
        (2_000..2_100).contains(&board.core.cycles()),
        "line 0 is disabled and pends"
    );
}

#[test]
fn without_sevonpend_a_disabled_interrupt_wakes_nothing() {
    let mut board =
        Board::new(".equ SCR, 0xE000ED10\n poke ISER, 2\n cpsid i\n wfe\n bkpt 0\n .pool\n");
    board.lines = vec![(2_000, 0, true), (5_000, 1, true)];
    board.finish();
    assert!(
        (5_000..5_100).contains(&board.core.cycles()),
        "line 1 is enabled: WFE ends though PRIMASK is set"
    );
}

#[test]
fn a_return_is_an_event() {
    // B1.5.18: exception entry and return set the event register, so this WFE does not wait.
    let board = finished("svc 0\n wfe\n bkpt 0\n function svcall\n bx lr");
    assert!(board.core.cycles() < 100);
}

#[test]
fn wfi_ignores_events_and_falls_through_for_what_is_pending() {
    let board = finished(&format!(
        "{SCR} cpsid i\n poke ISPR, 1\n wfi\n mov r7, #1\n bkpt 0\n .pool"
    ));
    assert_eq!(board.r(7), 1);
    let board = finished_with(
        &format!("{SCR} sev\n wfi\n bkpt 0\n .pool\n function irq0\n bx lr"),
        &[(3_000, 0, true), (3_001, 0, false)],
    );
    assert!(board.core.cycles() >= 3_000);
}

#[test]
fn wfi_does_not_wake_for_what_basepri_masks() {
    // B1.5.19: the comparison ignores PRIMASK but not BASEPRI.
    let board = finished_with("poke ISER, 3\n poke IPR, 0x4080\n movs r0, #0x80\n msr basepri, r0\n wfi\n mov r7, r8\n bkpt 0\n .pool\n function irq1\n mov r8, #1\n bx lr", &[(2_000, 0, true), (4_000, 1, true), (4_001, 1, false)]);
    assert_eq!(board.r(7), 1);
    assert!(board.core.cycles() >= 4_000);
}
