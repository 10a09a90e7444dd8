//! `run --gaps` without firmware: all that the model lacks.

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
