//! Saves register values with the name of their peripheral, and which of the tables of that name
//! they have: chips may differ. The register tables are part of the program, not of the machine.

use crate::chip::chips;
use crate::memory::Memory;
use crate::peripherals::registers::{Register, Registers};
use crate::soc::Soc;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::OnceLock;

impl Serialize for Registers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let known = tables()
            .get(self.peripheral())
            .map_or(&[][..], Vec::as_slice);
        let place = known
            .iter()
            .position(|table| std::ptr::eq(*table, self.table()));
        let place = place.expect("every table is some chip's") as u8;
        (self.peripheral(), place, self.values()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Registers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (name, place, values) = <(String, u8, Vec<u32>)>::deserialize(deserializer)?;
        tables()
            .get_key_value(name.as_str())
            .and_then(|(peripheral, known)| {
                let table = known.get(usize::from(place))?;
                Registers::restored(peripheral, table, values)
            })
            .ok_or_else(|| D::Error::custom(format!("the registers of {name:?} are not known")))
    }
}

type Tables = BTreeMap<&'static str, Vec<&'static [Register]>>;

/// The register tables of all chips, by peripheral, with those of what a chip lacks.
fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let mut tables = Tables::new();
        for chip in chips() {
            let mut soc = Soc::new(Memory::of(chip));
            for (peripheral, table) in soc.kept_tables() {
                let known = tables.entry(peripheral).or_default();
                if !known.iter().any(|other| std::ptr::eq(*other, table)) {
                    known.push(table);
                }
            }
        }
        tables
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chip_can_be_saved() {
        for chip in chips() {
            let soc = Soc::new(Memory::of(chip));
            let saved = postcard::to_allocvec(&soc).expect("it can be written");
            postcard::from_bytes::<Soc>(&saved).expect("and read");
        }
    }
}
