//! `--gaps`: what the model lacks, all of it or as far as a run touched it.

use machine::Machine;
use stm32::chip::Chip;
use stm32::memory::Memory;
use stm32::peripherals::known_gaps;
use stm32::soc::Soc;

/// Prints everything of the chip that is not modelled.
pub fn list_all(chip: &'static Chip) {
    let mut soc = Soc::new(Memory::of(chip));
    for line in known_gaps::list(chip, &soc.register_tables()) {
        println!("{line}");
    }
}

/// Prints what a run went past on standard error, so that nobody who judges the run overlooks it.
pub fn list_touched(machine: &Machine) {
    let mut touched = machine.gaps().peekable();
    if touched.peek().is_some() {
        eprintln!("virtual-nucleo: gaps: what follows is not modelled and read as after reset; this run is not the {}'s", machine.chip().name);
    }
    for register in touched {
        eprintln!("virtual-nucleo: gap: {register}");
    }
}
