//! Sleep costs the host nothing: time passes from event to event. These tests count steps and
//! instructions, not seconds.

use crate::support;

use cortex_m::Timing;
use machine::snapshot::Snapshot;
use machine::Machine;
use support::{advance, board_firmware, machine};

const SECOND_CYCLES: u64 = 84_000_000;

/// The board after it has sent its message, in its loop around WFI.
fn sleeping(macros: &str) -> Machine {
    let mut machine = machine(&board_firmware(macros), Timing::Nucleo, b"");
    advance(&mut machine, SECOND_CYCLES / 100);
    machine
}

#[test]
fn seconds_without_events_take_one_step_and_no_instruction() {
    let mut machine = sleeping("NO_STIMULUS");
    assert!(machine.idle_for_ever());
    let instructions = machine.core().instructions();
    assert_eq!(advance(&mut machine, 10 * SECOND_CYCLES), 1);
    assert_eq!(machine.cycles(), 10 * SECOND_CYCLES);
    assert_eq!(machine.core().instructions(), instructions);
}

#[test]
fn sleep_between_interrupts_takes_steps_only_for_them() {
    let mut machine = sleeping("");
    machine.take_edges();
    let (cycles, instructions) = (machine.cycles(), machine.core().instructions());
    let steps = advance(&mut machine, cycles + SECOND_CYCLES / 10);
    // TIM2 matches every 840 cycles. The handler makes two edges, the match one.
    let matches = machine.take_edges().len() as u64 / 3;
    assert_eq!(matches, SECOND_CYCLES / 10 / 840);
    let executed = machine.core().instructions() - instructions;
    // The handler and the loop around WFI are about twenty instructions. Nothing runs between them.
    assert!(executed <= 30 * (matches + 1), "{executed} instructions");
    // A handful of steps: waking, the store that clears the interrupt, the return to sleep.
    assert!(steps <= 10 * (matches + 1), "{steps} steps");
}

/// Odd, so that the slices end everywhere between two events.
const SLICE_CYCLES: u64 = 37;

#[test]
fn time_that_is_skipped_leaves_what_passing_it_in_slices_leaves() {
    let whole = &mut sleeping("");
    let sliced = &mut sleeping("");
    let start = whole.cycles();
    for end in (1..40).map(|n| start + 1_009 * n) {
        advance(whole, end);
        while sliced.cycles() < end {
            let next = end.min(sliced.cycles() + SLICE_CYCLES);
            advance(sliced, next);
        }
        assert_eq!(whole.take_edges(), sliced.take_edges(), "cycle {end}");
        let bytes = |machine: &Machine| Snapshot::of(machine).to_bytes();
        assert!(bytes(whole) == bytes(sliced), "cycle {end}");
    }
}
