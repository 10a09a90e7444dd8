//! Code that changes, code whose executions are counted, and code that is decoded anew each time.

use crate::core::board::{run, Board, CODE};
use crate::core::profile::mixture;
use cortex_m::{Stop, Timing};

#[test]
fn a_store_into_executed_code_takes_effect() {
    // A function in SRAM, `movs r4, #1; bx lr`, whose first halfword becomes `movs r4, #2`.
    let board = run("ldr r0, =0x20000400\n ldr r1, =0x47702401\n str r1, [r0]\n adds r2, r0, #1\n blx r2\n mov r5, r4\n ldr r1, =0x2402\n strh r1, [r0]\n blx r2");
    assert_eq!(board.registers([5, 4]), [1, 2]);
}

#[test]
fn a_store_into_the_second_half_of_an_instruction_takes_effect() {
    // `movw r4, #1` is F240 0401. Its second halfword becomes 0402.
    let board = run("ldr r0, =0x20000ffe\n ldr r1, =0xf240\n strh r1, [r0]\n ldr r1, =0x47700401\n str r1, [r0, #2]\n adds r2, r0, #1\n blx r2\n mov r5, r4\n ldr r1, =0x0402\n strh r1, [r0, #2]\n blx r2");
    assert_eq!(
        board.registers([5, 4]),
        [1, 2],
        "across a page of the code cache"
    );
}

#[test]
fn code_changed_from_outside_needs_an_invalidation() {
    let mut board = Board::new("1: movs r4, #1\n bkpt 0");
    let entry = board.core.pc();
    board.finish();
    board.memory.code[(entry - CODE) as usize] = 9;
    board.core.invalidate_code();
    board.core.set_register(15, entry);
    board.finish();
    assert_eq!(board.r(4), 9);
}

#[test]
fn executions_of_an_address_are_counted() {
    let mut board = Board::new("movs r0, #37\n1: subs r0, #1\n bne 1b\n bkpt 0");
    let entry = board.core.pc();
    let loop_start = board.core.count_executions(entry + 2);
    let end = board.core.count_executions(entry + 6);
    let never = board.core.count_executions(entry + 0x100);
    board.finish();
    assert_eq!(
        [loop_start, end, never].map(|n| board.core.executions(n)),
        [37, 0, 0]
    );
}

#[test]
fn the_core_returns_before_a_place_at_each_lap_and_goes_on() {
    let source = "movs r0, #5\n1: subs r0, #1\n bne 1b\n bkpt 0";
    let mut whole = Board::new(source);
    whole.finish();
    let mut board = Board::new(source);
    let place = board.core.pc() + 2;
    board.core.return_before(place);
    for left in (1..=5).rev() {
        board.core.run(&mut board.memory, u64::MAX).unwrap();
        assert_eq!((board.core.pc(), board.r(0)), (place, left));
    }
    board.finish();
    assert!(whole.outcome() == board.outcome());
}

#[test]
fn stepping_equals_running() {
    let source = "movs r0, #9\n1: subs r0, #1\n bne 1b\n svc 0\n bkpt 0\n function svcall\n movs r7, #7\n bx lr";
    let mut whole = Board::new(source);
    whole.finish();
    let mut stepped = Board::new(source);
    while stepped.core.step(&mut stepped.memory).is_ok() {}
    assert!(whole.outcome() == stepped.outcome());
}

/// Runs one instruction at a time, and calls `before` before each.
fn stepped(mut board: Board, before: impl Fn(&mut Board)) -> Board {
    loop {
        before(&mut board);
        match board.run_until(board.core.cycles() + 1) {
            Ok(()) => {}
            Err(Stop::Breakpoint { immediate: 0, .. }) => return board,
            Err(stop) => panic!("{stop}"),
        }
    }
}

#[test]
fn remembered_instructions_do_what_decoding_anew_does() {
    for timing in [Timing::Nucleo, Timing::Ideal] {
        let [remembered, anew] = [false, true].map(|forgets| {
            let board = stepped(mixture(timing, 0), |board| {
                if forgets {
                    board.core.invalidate_code();
                }
            });
            let core = postcard::to_allocvec(&board.core).unwrap();
            (core, board.memory.sram, board.memory.written)
        });
        assert!(remembered == anew, "{timing:?}");
    }
}
