//! What the STM32F407's SRAM2 costs beyond its SRAM1: a cycle for the first load of a row.
//!
//! ST says nothing about it. Measured without wait states: 48 routines of polymul-z2mx-m4
//! (Kannwischer, Rijneveld and Schwabe) and three of chacha-arm-cortex-m (Hülsing, Rijneveld and
//! Schwabe), whose data lay in SRAM2, took that cycle for each row of loads, and none for stores. The
//! authors of pqm4 left SRAM2 for that reason (pull request 73). T. Pornin found N + 2 cycles for
//! loads of N words, and N + 1 for stores (curve9767, `ops_cm4.s`). docs/reference/timing.md has the
//! figures.

use serde::{Deserialize, Serialize};

/// The cycle in which SRAM2 was last read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SecondSram {
    read: u64,
}

impl SecondSram {
    /// The wait cycles of a load whose data is due in the cycles `first` to `last`: more than one if
    /// it is not aligned. Only a load right behind another has none.
    pub fn read(&mut self, first: u64, last: u64) -> u32 {
        let waits = u32::from(first != self.read + 1);
        self.read = last + u64::from(waits);
        waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_load_of_a_row_waits() {
        let mut sram = SecondSram::default();
        let mut read = |first, last| sram.read(first, last);
        assert_eq!(read(10, 10), 1);
        assert_eq!(read(12, 12), 0);
        assert_eq!(read(13, 14), 0, "two halves");
        assert_eq!(read(15, 15), 0);
        assert_eq!(read(17, 17), 1);
        assert_eq!(read(40, 40), 1);
    }
}
