//! DWT's counters over a window of a whole board's firmware: flash, buses, timers, UART, sleep and all.

mod support;

use std::fs;
use support::board_firmware;
use virtual_nucleo::bus::Width;
use virtual_nucleo::core::{Profile, Timing};
use virtual_nucleo::machine::Machine;
use virtual_nucleo::memory::elf::Firmware;
use virtual_nucleo::memory::Memory;

const WINDOW_CYCLES: u64 = 2_000_000;

fn run_to(machine: &mut Machine, cycle: u64) {
    while machine.cycles() < cycle {
        machine.run_to_event(cycle).unwrap();
    }
}

/// Cycles, instructions and profile up to now.
fn sight(machine: &Machine) -> (u64, u64, Profile) {
    let core = machine.core();
    (core.cycles(), core.instructions(), core.profile())
}

#[test]
fn the_counters_explain_every_cycle_of_a_board() {
    // DDI 0403E, C1.8.1: instructions = CYCCNT - CPICNT - EXCCNT - SLEEPCNT - LSUCNT + FOLDCNT.
    let elf = fs::read(board_firmware("profiled", &[])).unwrap();
    let mut memory = Memory::default();
    Firmware::parse(&elf).unwrap().place(&mut memory).unwrap();
    let mut machine = Machine::new(memory, Timing::Nucleo).unwrap();
    // Somewhere in the sending of the message; then through it, into sleep between interrupts.
    run_to(&mut machine, 50_000);
    for (address, value) in [(0xE000_EDFC, 1 << 24), (0xE000_1000, 0x1F << 17)] {
        machine.debug_write(address, Width::Word, value).unwrap();
    }
    let (cycles, instructions, before) = sight(&machine);
    run_to(&mut machine, 50_000 + WINDOW_CYCLES);
    let (end, executed, after) = sight(&machine);
    let spent = [
        after.cpi_cycles - before.cpi_cycles,
        after.exception_cycles - before.exception_cycles,
        after.sleep_cycles - before.sleep_cycles,
        after.load_store_cycles - before.load_store_cycles,
    ];
    let folded = after.folded_instructions - before.folded_instructions;
    assert_eq!(
        executed - instructions,
        end - cycles - spent.iter().sum::<u64>() + folded
    );
    for part in spent {
        assert!(part > 4 * 256, "{spent:?}: none wrapped often");
    }
    let mut register = |n: u32| {
        let address = 0xE000_1008 + 4 * n;
        u64::from(machine.debug_read(address, Width::Word).unwrap())
    };
    for (n, part) in spent.iter().enumerate() {
        assert_eq!(register(n as u32), part % 256);
    }
}
