//! The data comparators of the Data Watchpoint and Trace unit (C1.8). Each of the four has an
//! address, a mask of its low bits and a function. Tracing, and comparing values or cycles, are not
//! modelled.

use crate::access::Access;
use crate::bus::Width;
use serde::{Deserialize, Serialize};

const COMPARATORS: usize = 4;
/// The largest mask of the M4 (DWT_MASKn, TRM table 9-1): 32 KiB.
const MASK_BITS: u32 = 0xF;
const FUNCTION_MATCHED: u32 = 1 << 24;

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Comparator {
    address: u32,
    mask: u32,
    /// 0 disabled, 5 reads, 6 writes, 7 both (table C1-14).
    function: u32,
    matched: bool,
}

impl Comparator {
    fn matches(&self, address: u32, width: Width, access: Access) -> bool {
        let wanted = match access {
            Access::Read => matches!(self.function, 5 | 7),
            Access::Write => matches!(self.function, 6 | 7),
        };
        let ignored = (1 << self.mask) - 1;
        let first = self.address & !ignored;
        let last = self.address | ignored;
        wanted && address <= last && address.saturating_add(width.bytes() - 1) >= first
    }
}

#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Watchpoints([Comparator; COMPARATORS]);

impl Watchpoints {
    pub fn any(&self) -> bool {
        self.0.iter().any(|c| c.function != 0)
    }

    /// Whether the access is watched. Sets MATCHED of the comparators that see it.
    pub fn note(&mut self, address: u32, width: Width, access: Access) -> bool {
        let mut hit = false;
        for comparator in &mut self.0 {
            if comparator.matches(address, width, access) {
                comparator.matched = true;
                hit = true;
            }
        }
        hit
    }

    /// A register by its offset from DWT_COMP0. `None` if the model has no such register. Reading
    /// DWT_FUNCTIONn clears MATCHED.
    pub fn read(&mut self, offset: u32) -> Option<u32> {
        let comparator = self.0.get_mut(offset as usize / 16)?;
        match offset % 16 {
            0 => Some(comparator.address),
            4 => Some(comparator.mask),
            8 => {
                let matched = std::mem::take(&mut comparator.matched);
                Some(comparator.function | if matched { FUNCTION_MATCHED } else { 0 })
            }
            _ => None,
        }
    }

    pub fn write(&mut self, offset: u32, value: u32) -> Option<()> {
        let comparator = self.0.get_mut(offset as usize / 16)?;
        match (offset % 16, value) {
            (0, _) => comparator.address = value,
            (4, _) => comparator.mask = value & MASK_BITS,
            (8, 0 | 5..=7) => comparator.function = value,
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watching(address: u32, mask: u32, function: u32) -> Watchpoints {
        let mut unit = Watchpoints::default();
        for (offset, value) in [(0x10, address), (0x14, mask), (0x18, function)] {
            unit.write(offset, value).unwrap();
        }
        unit
    }

    #[test]
    fn a_watchpoint_sees_every_access_that_touches_its_bytes() {
        let mut unit = watching(0x2000_0102, 1, 6);
        assert!(unit.note(0x2000_0100, Width::Word, Access::Write));
        assert!(unit.note(0x2000_0103, Width::Byte, Access::Write));
        assert!(!unit.note(0x2000_0100, Width::Half, Access::Write));
        assert!(!unit.note(0x2000_0104, Width::Word, Access::Write));
        assert!(!unit.note(0x2000_0102, Width::Half, Access::Read));
    }

    #[test]
    fn matched_is_read_once() {
        let mut unit = watching(0x2000_0100, 0, 7);
        assert!(unit.note(0x2000_0100, Width::Byte, Access::Read));
        assert_eq!(unit.read(0x18), Some(FUNCTION_MATCHED | 7));
        assert_eq!(unit.read(0x18), Some(7));
    }

    #[test]
    fn what_is_not_modelled_is_refused() {
        let mut unit = Watchpoints::default();
        assert_eq!(unit.write(0x08, 4), None); // PC match
        assert_eq!(unit.write(0x08, 0x107), None); // DATAVMATCH
        assert_eq!(unit.write(0x40, 0), None);
    }
}
