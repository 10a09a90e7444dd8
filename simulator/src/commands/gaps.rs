//! `run --gaps` without firmware: all that the model lacks.

use crate::chip::Chip;
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
