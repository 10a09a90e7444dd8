//! `--gaps`: what the model lacks, all of it or as far as a run touched it.

use crate::chip::Chip;
use crate::machine::Machine;
use crate::memory::Memory;
use crate::peripherals::known_gaps;
use crate::soc::Soc;

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
