//! Going on past what is not modelled, if the user asks for it. What was touched is kept for the
//! report.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A register, or bits of one, that firmware touched and the model lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touched {
    pub what: String,
    pub address: u32,
    /// The first instruction that touched it.
    pub pc: u32,
    pub reads: u64,
    pub writes: u64,
}

impl fmt::Display for Touched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Touched {
            what,
            address,
            pc,
            reads,
            writes,
        } = self;
        write!(
            f,
            "{what} at {address:#010x}: {reads} read, {writes} written, first at pc {pc:#010x}"
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
}

/// What is tolerated, ordered by address.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Gaps {
    touched: BTreeMap<(u32, String), Touched>,
}

impl Gaps {
    /// From now on `what` at `address` does not stop the run. False if it was already tolerated.
    pub fn tolerate(&mut self, what: String, address: u32, pc: u32) -> bool {
        let key = (address, what.clone());
        let new = !self.touched.contains_key(&key);
        self.touched.entry(key).or_insert(Touched {
            what,
            address,
            pc,
            reads: 0,
            writes: 0,
        });
        new
    }

    /// Counts an access if it is tolerated. False if it is not.
    pub(super) fn note(&mut self, what: &str, address: u32, direction: Direction) -> bool {
        let Some(touched) = self.touched.get_mut(&(address, what.to_owned())) else {
            return false;
        };
        match direction {
            Direction::Read => touched.reads += 1,
            Direction::Write => touched.writes += 1,
        }
        true
    }

    pub fn touched(&self) -> impl Iterator<Item = &Touched> {
        self.touched.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_tolerated_is_counted() {
        let mut gaps = Gaps::default();
        assert!(!gaps.note("SPI1_CR1", 0x4001_3000, Direction::Write));
        assert!(gaps.tolerate("SPI1_CR1".into(), 0x4001_3000, 0x0800_0100));
        assert!(!gaps.tolerate("SPI1_CR1".into(), 0x4001_3000, 0x0800_0200));
        assert!(gaps.note("SPI1_CR1", 0x4001_3000, Direction::Write));
        assert!(gaps.note("SPI1_CR1", 0x4001_3000, Direction::Read));
        let lines: Vec<String> = gaps.touched().map(Touched::to_string).collect();
        assert_eq!(
            lines,
            ["SPI1_CR1 at 0x40013000: 1 read, 1 written, first at pc 0x08000100"]
        );
    }
}
