//! The Flash Patch and Breakpoint unit (C1.11): six comparators that stop the program before an
//! instruction. The two literal comparators and remapping are not modelled.

use crate::memory_map::CODE_END;
use serde::{Deserialize, Serialize};

const COMPARATORS: usize = 6;
/// FP_CTRL: two literal and six instruction comparators (TRM table 10-1).
const CONTROL_FIXED: u32 = 0x260;
const CONTROL_ENABLE: u32 = 1 << 0;
const CONTROL_KEY: u32 = 1 << 1;
/// FP_REMAP: remapping is supported. Only the table's address can be set.
const REMAP_FIXED: u32 = 1 << 29;
const REMAP_WRITABLE: u32 = 0x1FFF_FFE0;
const COMPARATOR_ENABLE: u32 = 1 << 0;
const COMPARATOR_WRITABLE: u32 = 0xDFFF_FFFD;

#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Breakpoints {
    enabled: bool,
    remap: u32,
    comparators: [u32; COMPARATORS],
}

impl Breakpoints {
    /// Whether the program must stop before the instruction at `address`.
    pub fn matches(&self, address: u32) -> bool {
        self.enabled && self.comparators.iter().any(|&c| stops(c, address))
    }

    /// A register by its offset. `None` if the model has no such register.
    pub fn read(&self, offset: u32) -> Option<u32> {
        match offset {
            0 => Some(CONTROL_FIXED | self.enabled as u32),
            4 => Some(REMAP_FIXED | self.remap),
            0x20 | 0x24 => Some(0), // the literal comparators, disabled
            _ => self.comparators.get(index(offset)?).copied(),
        }
    }

    pub fn write(&mut self, offset: u32, value: u32) -> Option<()> {
        match offset {
            0 if value & CONTROL_KEY == 0 => {}
            0 => self.enabled = value & CONTROL_ENABLE != 0,
            4 => self.remap = value & REMAP_WRITABLE,
            0x20 | 0x24 if value & COMPARATOR_ENABLE == 0 => {}
            _ => self.set_comparator(index(offset)?, value)?,
        }
        Some(())
    }

    fn set_comparator(&mut self, n: usize, value: u32) -> Option<()> {
        let remaps = value & COMPARATOR_ENABLE != 0 && value >> 30 == 0;
        if remaps {
            return None;
        }
        *self.comparators.get_mut(n)? = value & COMPARATOR_WRITABLE;
        Some(())
    }
}

fn index(offset: u32) -> Option<usize> {
    Some(offset.checked_sub(8)? as usize / 4)
}

/// A comparator holds a word's address. REPLACE (bits 31:30) selects its halfwords (C1.11.5).
fn stops(comparator: u32, address: u32) -> bool {
    let half = if address & 2 == 0 { 1 } else { 2 };
    comparator & COMPARATOR_ENABLE != 0
        && address < CODE_END // the comparators reach no further
        && comparator & 0x1FFF_FFFC == address & !3
        && comparator >> 30 & half != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(comparator: u32) -> Breakpoints {
        let mut unit = Breakpoints::default();
        unit.write(0, CONTROL_KEY | CONTROL_ENABLE).unwrap();
        unit.write(8, comparator).unwrap();
        unit
    }

    #[test]
    fn a_comparator_stops_the_halfwords_that_replace_names() {
        let lower = unit(0x4800_0101);
        assert!(lower.matches(0x0800_0100) && !lower.matches(0x0800_0102));
        let upper = unit(0x8800_0101);
        assert!(!upper.matches(0x0800_0100) && upper.matches(0x0800_0102));
        let both = unit(0xC800_0101);
        assert!(both.matches(0x0800_0100) && both.matches(0x0800_0102));
        assert!(!both.matches(0x0800_0104) && !both.matches(0x2800_0100));
    }

    #[test]
    fn the_control_register_needs_its_key() {
        let mut unit = unit(0x4800_0101);
        unit.write(0, 0).unwrap();
        assert_eq!(unit.read(0), Some(0x261));
        unit.write(0, CONTROL_KEY).unwrap();
        assert_eq!(unit.read(0), Some(0x260));
        assert!(!unit.matches(0x0800_0100));
    }

    #[test]
    fn remapping_and_literals_are_refused() {
        let mut unit = Breakpoints::default();
        assert_eq!(unit.write(8, 0x0800_0101), None);
        assert_eq!(unit.write(0x20, 0x4800_0101), None);
        assert_eq!(unit.read(0x28), None);
    }
}
