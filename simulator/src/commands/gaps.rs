//! `--gaps`: what the model has not, all of it or as far as a run touched it.

use crate::machine::Machine;
use crate::memory::Memory;
use crate::peripherals::known_gaps;
use crate::soc::Soc;

/// Everything of the chip that is not modelled, on standard output.
pub fn list_all() {
    let mut soc = Soc::new(Memory::default());
    for line in known_gaps::list(&soc.register_tables()) {
        println!("{line}");
    }
}

/// What a run went past, on standard error, since whoever judges the run must not overlook it.
pub fn list_touched(machine: &Machine) {
    let mut touched = machine.gaps().peekable();
    if touched.peek().is_some() {
        eprintln!("virtual-nucleo: gaps: what follows is not modelled and read as after reset; this run is not the chip's");
    }
    for register in touched {
        eprintln!("virtual-nucleo: gap: {register}");
    }
}
