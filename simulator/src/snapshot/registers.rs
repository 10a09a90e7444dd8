//! Saves register values with the name of their peripheral. The register tables are part of the
//! program, not of the machine.

use crate::memory::Memory;
use crate::peripherals::registers::{Register, Registers};
use crate::soc::Soc;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::OnceLock;

impl Serialize for Registers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.peripheral(), self.values()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Registers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (name, values) = <(String, Vec<u32>)>::deserialize(deserializer)?;
        tables()
            .get_key_value(name.as_str())
            .and_then(|(peripheral, table)| Registers::restored(peripheral, table, values))
            .ok_or_else(|| D::Error::custom(format!("the registers of {name:?} are not known")))
    }
}

type Tables = BTreeMap<&'static str, &'static [Register]>;

/// The register tables of a chip after reset, by peripheral.
fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let mut soc = Soc::new(Memory::default());
        soc.register_tables().into_iter().collect()
    })
}
