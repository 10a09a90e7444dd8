//! What a program did that is odd, and that did not stop the run.

use crate::chip::PLACE_BYTES;
use crate::manners::{Access, Manners, Oddity};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Something odd: what it is, where and when the program did it first, and how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub oddity: Oddity,
    /// The register, with the bits or the reason of the first time.
    pub what: String,
    pub address: u32,
    /// The first instruction that did it. `None` until it is over.
    pub pc: Option<u32>,
    /// The cycle of the first access.
    pub cycle: u64,
    pub reads: u64,
    pub writes: u64,
    /// How long a setting lasted, in all, as far as it is over. `None` of what does not last.
    pub lasted_cycles: Option<u64>,
}

/// Notes of one kind at one address are one note, and so are those on a peripheral that is off,
/// absent or used too early. Different settings, pins and interrupts are told apart.
type Key = (u32, Oddity, String);

/// The manners, and what was taken by them.
#[derive(Clone, Serialize, Deserialize)]
pub struct Notes {
    manners: Manners,
    taken: BTreeMap<Key, Note>,
    /// Notes without a PC.
    unplaced: Vec<Key>,
}

impl Default for Notes {
    /// A machine is strict until somebody says otherwise.
    fn default() -> Notes {
        Notes {
            manners: Manners::Strict,
            taken: BTreeMap::new(),
            unplaced: Vec::new(),
        }
    }
}

impl Notes {
    pub fn manners(&self) -> Manners {
        self.manners
    }

    /// Sets the manners, and returns those before.
    pub fn set_manners(&mut self, manners: Manners) -> Manners {
        std::mem::replace(&mut self.manners, manners)
    }

    /// Notes an access in `cycle`. True if it is the first of its kind.
    pub fn note(
        &mut self,
        oddity: Oddity,
        what: String,
        address: u32,
        access: Access,
        cycle: u64,
    ) -> bool {
        let apart = match oddity {
            Oddity::Setting | Oddity::Mode => what.clone(),
            // Each pin and each interrupt of its own.
            Oddity::SlowPin | Oddity::LateClear => {
                what.split(" (").next().unwrap_or_default().into()
            }
            _ => String::new(),
        };
        let of_one_note = match oddity {
            Oddity::ClockOff | Oddity::Absent | Oddity::Early => address & !(PLACE_BYTES - 1),
            _ => address,
        };
        let key = (of_one_note, oddity, apart);
        let first = !self.taken.contains_key(&key);
        if first {
            self.unplaced.push(key.clone());
        }
        let note = self.taken.entry(key).or_insert(Note {
            oddity,
            what,
            address,
            pc: None,
            cycle,
            reads: 0,
            writes: 0,
            lasted_cycles: None,
        });
        match access {
            Access::Read => note.reads += 1,
            Access::Write => note.writes += 1,
        }
        first
    }

    /// A setting of these words is over, after so many cycles.
    pub fn lasted(&mut self, what: &str, cycles: u64) {
        let mut notes = self.taken.iter_mut();
        let of_setting = |key: &Key| key.1 == Oddity::Setting && key.2 == what;
        if let Some((_, note)) = notes.find(|(key, _)| of_setting(key)) {
            *note.lasted_cycles.get_or_insert(0) += cycles;
        }
    }

    /// The instruction at `pc` made the notes that are new.
    pub fn place(&mut self, pc: u32) {
        for key in self.unplaced.drain(..) {
            if let Some(note) = self.taken.get_mut(&key) {
                note.pc = Some(pc);
            }
        }
    }

    pub fn count(&self) -> usize {
        self.taken.len()
    }

    /// In the order of their first cycles.
    pub fn in_order(&self) -> Vec<&Note> {
        let mut notes: Vec<&Note> = self.taken.values().collect();
        notes.sort_by_key(|note| note.cycle);
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_at_an_address_is_one_note() {
        let mut notes = Notes::default();
        let mut note = |what: &str, access, cycle| {
            notes.note(Oddity::Reserved, what.into(), 0x4002_3830, access, cycle)
        };
        assert!(note("RCC_AHB1ENR (bits 0x00100000)", Access::Write, 70));
        assert!(!note("RCC_AHB1ENR (bits 0x00000020)", Access::Write, 90));
        notes.place(0x0800_0100);
        notes.place(0x0800_0200);
        let [kept] = notes.in_order()[..] else {
            panic!("one note")
        };
        assert_eq!(kept.what, "RCC_AHB1ENR (bits 0x00100000)");
        assert_eq!((kept.cycle, kept.pc), (70, Some(0x0800_0100)));
        assert_eq!((kept.reads, kept.writes), (0, 2));
    }

    #[test]
    fn a_peripheral_without_a_clock_is_one_note() {
        let mut notes = Notes::default();
        for (address, cycle) in [(0x4002_1C04, 5), (0x4002_1C20, 6), (0x4002_1804, 7)] {
            notes.note(
                Oddity::ClockOff,
                "GPIO".into(),
                address,
                Access::Write,
                cycle,
            );
        }
        let counts: Vec<(u32, u64)> = notes
            .in_order()
            .iter()
            .map(|note| (note.address, note.writes))
            .collect();
        assert_eq!(counts, [(0x4002_1C04, 2), (0x4002_1804, 1)]);
    }

    #[test]
    fn what_a_setting_lasted_is_summed() {
        let mut notes = Notes::default();
        for cycle in [20, 60] {
            notes.note(Oddity::Setting, "PCLK1".into(), 8, Access::Write, cycle);
            notes.lasted("PCLK1", 12);
        }
        notes.note(Oddity::Setting, "PCLK2".into(), 8, Access::Write, 90);
        notes.lasted("PCLK3", 7);
        let told: Vec<Option<u64>> = notes
            .in_order()
            .iter()
            .map(|note| note.lasted_cycles)
            .collect();
        assert_eq!(told, [Some(24), None]);
    }

    #[test]
    fn settings_are_told_apart_and_stand_in_the_order_of_their_cycles() {
        let mut notes = Notes::default();
        for (what, cycle) in [("PCLK2", 30), ("PCLK1", 20), ("PCLK1", 40)] {
            notes.note(Oddity::Setting, what.into(), 8, Access::Write, cycle);
        }
        let told: Vec<(&str, u64)> = notes
            .in_order()
            .iter()
            .map(|note| (note.what.as_str(), note.writes))
            .collect();
        assert_eq!(told, [("PCLK1", 2), ("PCLK2", 1)]);
    }
}
