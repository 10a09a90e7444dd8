//! `--count name=symbol+0x12`: how often an instruction is executed.

use crate::core::Core;
use crate::memory::elf::{Firmware, SymbolError};
use crate::memory::image::parse_hexadecimal;
use std::str::FromStr;
use thiserror::Error;

#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0:?} is not a count: write NAME=SYMBOL, NAME=SYMBOL+0xOFFSET or NAME=0xADDRESS")]
pub struct BadCount(String);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Location {
    Address(u32),
    Symbol { name: String, offset: u32 },
}

/// One `--count`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountArgument {
    name: String,
    location: Location,
}

impl FromStr for CountArgument {
    type Err = BadCount;

    fn from_str(text: &str) -> Result<Self, BadCount> {
        let bad = || BadCount(text.into());
        let (name, place) = text.split_once('=').ok_or_else(bad)?;
        if name.is_empty() || place.is_empty() {
            return Err(bad());
        }
        Ok(CountArgument {
            name: name.into(),
            location: location(place).ok_or_else(bad)?,
        })
    }
}

fn location(place: &str) -> Option<Location> {
    if place.starts_with("0x") {
        return parse_hexadecimal(place).map(Location::Address);
    }
    let (name, offset) = match place.split_once('+') {
        Some((name, offset)) => (name, parse_hexadecimal(offset)?),
        None => (place, 0),
    };
    (!name.is_empty()).then(|| Location::Symbol {
        name: name.into(),
        offset,
    })
}

/// The counters of a run.
pub struct Counts(Vec<(String, usize)>);

impl Counts {
    /// Starts counting.
    pub fn watch(
        counts: &[CountArgument],
        firmware: &Firmware,
        core: &mut Core,
    ) -> Result<Counts, SymbolError> {
        let watched = counts.iter().map(|count| {
            let address = match &count.location {
                Location::Address(address) => *address,
                Location::Symbol { name, offset } => firmware.symbol(name)?.wrapping_add(*offset),
            };
            Ok((count.name.clone(), core.watch_execution(address & !1)))
        });
        Ok(Counts(watched.collect::<Result<_, _>>()?))
    }

    /// Names and executions, in the order of the command line.
    pub fn read<'a>(&'a self, core: &'a Core) -> impl Iterator<Item = (&'a str, u64)> {
        self.0
            .iter()
            .map(|(name, index)| (name.as_str(), core.executions(*index)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_offsets_and_addresses() {
        let parsed = |text: &str| text.parse::<CountArgument>().map(|count| count.location);
        let symbol = |name: &str, offset| {
            Ok(Location::Symbol {
                name: name.into(),
                offset,
            })
        };
        assert_eq!(parsed("probe=find_block+0x12"), symbol("find_block", 0x12));
        assert_eq!(parsed("probe=find_block"), symbol("find_block", 0));
        assert_eq!(
            parsed("probe=0x08000123"),
            Ok(Location::Address(0x0800_0123))
        );
        for text in [
            "probe",
            "=symbol",
            "probe=",
            "probe=symbol+12",
            "probe=+0x2",
            "probe=0x",
        ] {
            assert_eq!(parsed(text), Err(BadCount(text.into())));
        }
    }
}
