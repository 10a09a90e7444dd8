//! DWT's counters over a part of a whole board's firmware, with flash, buses, timers, UART and
//! sleep.

use crate::support;

use cortex_m::bus::Width;
use cortex_m::Timing;
use machine::Machine;
use support::{advance, board_firmware, machine};

const WINDOW_CYCLES: u64 = 2_000_000;
/// The counters have eight bits. They are read before they can wrap.
const READ_PERIOD_CYCLES: u64 = 100;

/// The counters, DWT_CPICNT first.
fn counters(machine: &mut Machine) -> [u64; 5] {
    let mut register = |n: u32| machine.debug_read(0xE000_1008 + 4 * n, Width::Word);
    [0, 1, 2, 3, 4].map(|n| register(n).unwrap().into())
}

#[test]
fn the_counters_explain_every_cycle_of_a_board() {
    // DDI 0403E, C1.8.1: instructions = CYCCNT - CPICNT - EXCCNT - SLEEPCNT - LSUCNT + FOLDCNT.
    let mut machine = machine(&board_firmware(""), Timing::Nucleo, b"");
    // From somewhere in the sending of the message, on to sleep between interrupts.
    advance(&mut machine, 50_000);
    for (address, value) in [(0xE000_EDFC, 1 << 24), (0xE000_1000, 0x1F << 17)] {
        machine.debug_write(address, Width::Word, value).unwrap();
    }
    let (start, executed_before) = (machine.cycles(), machine.core().instructions());
    let mut last = counters(&mut machine);
    let mut totals = [0; 5];
    while machine.cycles() < start + WINDOW_CYCLES {
        let next = machine.cycles() + READ_PERIOD_CYCLES;
        advance(&mut machine, next);
        let now = counters(&mut machine);
        for n in 0..5 {
            totals[n] += now[n].wrapping_sub(last[n]) & 0xFF;
        }
        last = now;
    }
    let [cpi, exceptions, sleep, load_store, folded] = totals;
    assert_eq!(
        machine.core().instructions() - executed_before,
        machine.cycles() - start - (cpi + exceptions + sleep + load_store) + folded
    );
    for total in [cpi, exceptions, sleep, load_store] {
        assert!(total > 4 * 256, "{totals:?}: none wrapped often");
    }
}
