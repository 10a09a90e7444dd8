//! What the STM32F407's SRAM2 costs beyond its SRAM1: a cycle for the first load of a row.
//!
//! ST says nothing about it. Measured: 48 routines of polymul-z2mx-m4 (Kannwischer, Rijneveld and
//! Schwabe) and three of chacha-arm-cortex-m (Hülsing, Rijneveld and Schwabe), whose data lay in
//! SRAM2, took that cycle for each row of loads, and none for stores. The authors of pqm4 left SRAM2
//! for that reason (pull request 73). T. Pornin found N + 2 cycles for loads of N words, and N + 1
//! for stores (curve9767, `ops_cm4.s`).
//!
//! How far a row goes follows from two measurements of other code. GIFT-64 in gift-eval-perf has 28
//! times a load of the flash and two post-indexed loads of one base, and takes a cycle a row more
//! than in core coupled memory: one cycle in which the bus has nothing to do does not end a row, and a
//! load behind one of the Code region, with which it does not overlap, waits for no more. In
//! polymul-z2mx-m4 a load behind a store behind a load waits for nothing: the store belongs to the
//! row. docs/reference/timing.md has the figures.

use serde::{Deserialize, Serialize};

/// The last cycle of a row of accesses to SRAM2, or of a load that one of SRAM2 waits for anyway.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SecondSram {
    row: u64,
}

impl SecondSram {
    /// The wait cycles of a load whose data is due in the cycles `first` to `last`: more than one if
    /// it is not aligned.
    pub fn read(&mut self, first: u64, last: u64) -> u32 {
        let waits = u32::from(first > self.row + 2);
        self.row = last + u64::from(waits);
        waits
    }

    /// A store neither waits nor begins a row. Right behind a load it goes on with the row.
    pub fn write(&mut self, cycle: u64) {
        if cycle <= self.row + 1 {
            self.row = cycle;
        }
    }

    /// A load of the Code region: flash or core coupled memory.
    pub fn read_code(&mut self, cycle: u64) {
        self.row = cycle;
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
        assert_eq!(read(17, 17), 0, "an idle cycle");
        assert_eq!(read(20, 20), 1);
        assert_eq!(read(40, 40), 1);
    }

    #[test]
    fn a_store_goes_on_with_a_row_and_begins_none() {
        let mut sram = SecondSram::default();
        assert_eq!(sram.read(10, 10), 1);
        sram.write(12);
        assert_eq!(sram.read(14, 14), 0);
        sram.write(16);
        assert_eq!(sram.read(17, 17), 1);
    }

    #[test]
    fn a_load_behind_one_of_the_code_region_waits_for_no_more() {
        let mut sram = SecondSram::default();
        sram.read_code(10);
        assert_eq!(sram.read(12, 12), 0);
    }
}
