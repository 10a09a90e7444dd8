//! `--count name=symbol+0x12`: how often an instruction is executed. `name=*`: how many
//! instructions are executed in all.

use super::places::{Place, MOST};
use crate::simulation::WindowsFile;
use anyhow::{bail, Context, Result};
use clap::Args;
use cortex_m::Core;
use machine::observe::windows::{Counted, Counter, Windows};
use machine::Machine;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use stm32::edges::Pin;
use stm32::memory::elf::Firmware;
use stm32::memory::Memory;

/// One `--count`.
#[derive(Clone)]
pub struct CountArgument {
    name: String,
    /// None: every instruction.
    place: Option<Place>,
}

pub fn count(text: &str) -> Result<CountArgument> {
    let (name, place) = text.split_once('=').unwrap_or_default();
    let every = place == "*";
    let place = Place::parse(place).filter(|_| !every);
    if name.is_empty() || !every && place.is_none() {
        bail!("{text:?} is not a count: write NAME=SYMBOL, NAME=SYMBOL+0xOFFSET, NAME=0xADDRESS or NAME=*");
    }
    Ok(CountArgument {
        name: name.into(),
        place,
    })
}

/// Starts counting from zero. Code in flash counts at its base and at its alias at 0.
pub fn watch(
    counts: &[CountArgument],
    firmware: Option<&Firmware>,
    core: &mut Core,
) -> Result<Vec<Counter>> {
    if counts.len() > MOST {
        bail!("too many addresses to count: at most {MOST}");
    }
    core.clear_execution_counters();
    let mut watches: BTreeMap<u32, usize> = BTreeMap::new();
    let mut counters: Vec<Counter> = Vec::new();
    for CountArgument { name, place } in counts {
        if counters.iter().any(|counter| counter.name == *name) {
            bail!("two counts are named {name}: rename one");
        }
        let counted = match place {
            None => Counted::EveryInstruction,
            Some(place) => {
                let mut watched = |address| {
                    *watches
                        .entry(address)
                        .or_insert_with(|| core.count_executions(address))
                };
                let addresses = Memory::executed_from(place.address(firmware)?);
                Counted::Places(addresses.map(&mut watched).collect())
            }
        };
        counters.push(Counter {
            name: name.clone(),
            counted,
        });
    }
    Ok(counters)
}

/// What a board counts while it is captured.
#[derive(Args)]
pub struct WindowsArguments {
    /// Count executions of an instruction between the edges of the pin of --count-window.
    #[arg(long, value_name = "NAME=SYMBOL+0xOFFSET", requires = "count_window", value_parser = count)]
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
    use super::count;

    #[test]
    fn a_count_has_a_name_and_a_place() {
        assert!(count("probe=find_block+0x12").unwrap().place.is_some());
        assert!(count("instructions=*").unwrap().place.is_none());
        for text in ["probe", "=symbol", "probe=", "probe=symbol+12", "probe=0x"] {
            assert!(count(text).is_err(), "{text}");
        }
    }
}
