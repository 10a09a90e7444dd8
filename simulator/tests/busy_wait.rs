//! Compares runs that skip iterations of busy waits with runs that execute them one instruction at
//! a time. Registers, counts, cycles and edges must be equal at every look.

use crate::support;

use cortex_m::{Core, Timing};
use support::{advance, board_firmware, firmware, machine};

/// The message is sent by about 1.3 ms, by polling and with interrupts.
const END_CYCLE: u64 = 160_000;
/// Odd, so that the looks fall everywhere in an iteration.
const LOOK_CYCLES: u64 = 1_237;

/// Registers, PC, xPSR, cycles and instructions.
fn seen(core: &Core) -> (Vec<u32>, u64, u64) {
    let registers = (0..16).map(|n| core.register(n));
    (
        registers.chain([core.registers().xpsr()]).collect(),
        core.cycles(),
        core.instructions(),
    )
}

/// Runs both ways side by side. Returns the instructions that were skipped, and all.
fn side_by_side(elf: &str, timing: Timing) -> (u64, u64) {
    let [mut skipping, mut stepping] = [(); 2].map(|()| machine(elf, timing, b"round and round\0"));
    for look in (LOOK_CYCLES..END_CYCLE).step_by(LOOK_CYCLES as usize) {
        advance(&mut skipping, look);
        while stepping.cycles() < look {
            stepping.run_one(look).unwrap();
        }
        assert_eq!(skipping.take_edges(), stepping.take_edges());
        assert_eq!(skipping.take_transmitted(), stepping.take_transmitted());
        assert_eq!(seen(skipping.core()), seen(stepping.core()));
    }
    assert_eq!(stepping.core().skipped_instructions(), 0);
    let core = skipping.core();
    (core.skipped_instructions(), core.instructions())
}

#[test]
fn skipping_laps_changes_nothing() {
    for timing in [Timing::Nucleo, Timing::Ideal] {
        let (skipped, all) = side_by_side(&board_firmware(""), timing);
        assert!(skipped > all / 3, "{skipped} of {all} skipped");
    }
}

/// The flags of a counter that nobody watches change without an event.
#[test]
fn laps_that_wait_for_a_timer_end_with_its_next_change() {
    for timing in [Timing::Nucleo, Timing::Ideal] {
        let (skipped, all) = side_by_side(&firmware("timers.c", ""), timing);
        assert!(skipped > all / 20, "{skipped} of {all} skipped");
    }
}
