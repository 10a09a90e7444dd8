//! `--count name=symbol+0x12`: how often an instruction is executed. `name=*`: how many
//! instructions are executed in all.

use crate::simulation::WindowsFile;
use anyhow::{Context, Result};
use clap::Args;
use cortex_m::Core;
use machine::observe::windows::{Counted, Counter, Windows};
use machine::Machine;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::str::FromStr;
use stm32::edges::Pin;
use stm32::memory::elf::{Firmware, SymbolError};
use stm32::memory::image::parse_hexadecimal;
use stm32::memory::Memory;
use thiserror::Error;

#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0:?} is not a count: write NAME=SYMBOL, NAME=SYMBOL+0xOFFSET, NAME=0xADDRESS or NAME=*")]
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
    /// None: every instruction.
    location: Option<Location>,
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
            location: match place {
                "*" => None,
                place => Some(location(place).ok_or_else(bad)?),
            },
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

#[derive(Debug, Error, PartialEq, Eq)]
pub enum CountError {
    #[error(transparent)]
    Symbol(#[from] SymbolError),
    #[error(
        "the firmware is not given, so that {0} is not known: name its ELF, or give an address"
    )]
    NoFirmware(String),
    #[error("too many addresses to count: at most 127")]
    TooMany,
    #[error("two counts are named {0}: rename one")]
    Twice(String),
}

impl Location {
    fn address(&self, firmware: Option<&Firmware>) -> Result<u32, CountError> {
        Ok(match self {
            Location::Address(address) => *address,
            Location::Symbol { name, offset } => firmware
                .ok_or_else(|| CountError::NoFirmware(name.clone()))?
                .symbol(name)?
                .wrapping_add(*offset),
        } & !1)
    }
}

/// The address of `SYMBOL`, `SYMBOL+0xOFFSET` or `0xADDRESS`.
pub fn address_of(place: &str, firmware: Option<&Firmware>) -> Result<Option<u32>, CountError> {
    let location = location(place).map(|location| location.address(firmware));
    location.transpose()
}

/// The core counts at most 254 addresses. An address in flash needs two, one of them at its alias.
const MOST: usize = 127;

/// Starts counting from zero. Code in flash counts at its base and at its alias at 0.
pub fn watch(
    counts: &[CountArgument],
    firmware: Option<&Firmware>,
    core: &mut Core,
) -> Result<Vec<Counter>, CountError> {
    if counts.len() > MOST {
        return Err(CountError::TooMany);
    }
    core.clear_execution_counters();
    let mut watches: BTreeMap<u32, usize> = BTreeMap::new();
    let mut counters: Vec<Counter> = Vec::new();
    for count in counts {
        if counters.iter().any(|counter| counter.name == count.name) {
            return Err(CountError::Twice(count.name.clone()));
        }
        let counted = match &count.location {
            None => Counted::EveryInstruction,
            Some(location) => {
                let address = Memory::canonical(location.address(firmware)?);
                let addresses = [Some(address), Memory::alias(address)];
                let mut watched = |address| {
                    *watches
                        .entry(address)
                        .or_insert_with(|| core.count_executions(address))
                };
                Counted::Places(addresses.into_iter().flatten().map(&mut watched).collect())
            }
        };
        counters.push(Counter {
            name: count.name.clone(),
            counted,
        });
    }
    Ok(counters)
}

/// What a board counts while it is captured.
#[derive(Args)]
pub struct WindowsArguments {
    /// Count executions of an instruction between the edges of the pin of --count-window.
    #[arg(long, value_name = "NAME=SYMBOL+0xOFFSET", requires = "count_window")]
    count: Vec<CountArgument>,
    /// A row for each pulse of this pin goes to the file of --windows.
    #[arg(long, value_name = "PIN", requires = "windows")]
    count_window: Option<Pin>,
    /// Count the instructions that are executed while this pin is high, too.
    #[arg(long, value_name = "PIN", requires = "count_window")]
    instructions_while: Option<Pin>,
    /// Write the counts of each window here: window,start_cycle,end_cycle, a column for each
    /// --count, and instructions for --instructions-while.
    #[arg(long, value_name = "CSV", requires = "count_window")]
    windows: Option<PathBuf>,
}

impl WindowsArguments {
    /// The file of `--windows`, if anything is counted.
    pub fn begin(
        &self,
        firmware: Option<&Firmware>,
        machine: &mut Machine,
    ) -> Result<Option<WindowsFile>> {
        let (Some(pin), Some(path)) = (self.count_window, &self.windows) else {
            return Ok(None);
        };
        let counters = watch(&self.count, firmware, machine.core_mut())?;
        let mut windows = Windows::new(pin, counters);
        if let Some(gate) = self.instructions_while {
            windows = windows.with_instructions_while(gate);
        }
        let windows_file = File::create(path)
            .and_then(|file| WindowsFile::begin(windows, file, machine))
            .with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Some(windows_file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_offsets_and_addresses() {
        let parsed = |text: &str| text.parse::<CountArgument>().map(|count| count.location);
        let symbol = |name: &str, offset| {
            Ok(Some(Location::Symbol {
                name: name.into(),
                offset,
            }))
        };
        assert_eq!(parsed("probe=find_block+0x12"), symbol("find_block", 0x12));
        assert_eq!(parsed("probe=find_block"), symbol("find_block", 0));
        assert_eq!(
            parsed("probe=0x08000123"),
            Ok(Some(Location::Address(0x0800_0123)))
        );
        assert_eq!(parsed("instructions=*"), Ok(None));
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
