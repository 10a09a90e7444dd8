//! `--mark pc:PLACE[,PLACE]…` and `--mark first:PLACE[,PLACE]…`: places whose passages are noted.

use super::places::{Place, MOST};
use anyhow::{bail, Context, Result};
use cortex_m::{Core, Passage};
use std::collections::{BTreeMap, BTreeSet};
use stm32::memory::elf::Firmware;
use stm32::memory::Memory;

/// One `--mark`: the places, and whether only their first passages are wanted.
#[derive(Clone)]
pub struct MarkArgument {
    places: Vec<Place>,
    once: bool,
}

pub fn mark(text: &str) -> Result<MarkArgument> {
    let once = text.starts_with("first:");
    let rest = text.strip_prefix(if once { "first:" } else { "pc:" });
    let places = rest.and_then(|places| places.split(',').map(Place::parse).collect());
    let places = places.with_context(|| format!("{text:?} is no mark: write pc:SYMBOL, pc:SYMBOL+0xOFFSET or pc:0xADDRESS, or several places with commas between them; first: instead of pc: notes only their first executions"))?;
    Ok(MarkArgument { places, once })
}

/// The marks of a run, by the indices of their passages.
pub struct Marks {
    /// The names of each place, as they were written.
    names: Vec<Vec<String>>,
}

impl Marks {
    pub const HEADER: &'static str = "mark,cycle,end_cycle,exception,sp,end_sp,next_pc,task\n";

    /// Marks the places. So many other addresses are `taken`. `task` is the word that points to
    /// the task that runs.
    pub fn set(
        arguments: &[MarkArgument],
        taken: usize,
        firmware: Option<&Firmware>,
        task: Option<u32>,
        core: &mut Core,
    ) -> Result<Marks> {
        let mut addresses: BTreeMap<u32, usize> = BTreeMap::new();
        let mut names: Vec<Vec<String>> = Vec::new();
        let mut always = BTreeSet::new();
        for MarkArgument { places, once } in arguments {
            for place in places {
                let address = place.address(firmware)?;
                if !once {
                    always.insert(address);
                }
                let index = *addresses.entry(address).or_insert(names.len());
                if index == names.len() {
                    names.push(Vec::new());
                }
                if !names[index].contains(&place.name) {
                    names[index].push(place.name.clone());
                }
            }
        }
        if names.len() + taken > MOST {
            bail!("too many places to mark and count: at most {MOST}");
        }
        for (address, index) in addresses {
            for place in Memory::executed_from(address) {
                core.mark(place, index, !always.contains(&address));
            }
        }
        if let Some(task) = task {
            core.tell_task(task);
        }
        Ok(Marks { names })
    }

    /// A row for each name of the place.
    pub fn rows(&self, passage: &Passage) -> String {
        let task = passage.task.filter(|task| *task != 0);
        let task = task.map_or(String::new(), |task| format!("{task:#010x}"));
        let names = self.names[passage.mark].iter();
        names
            .map(|name| {
                format!(
                    "{name},{},{},{},{:#010x},{:#010x},{:#010x},{task}\n",
                    passage.cycle,
                    passage.end_cycle,
                    passage.exception,
                    passage.sp,
                    passage.end_sp,
                    passage.next_pc
                )
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::mark;

    #[test]
    fn marks_are_places_with_commas() {
        let names = |text: &str| {
            let places = mark(text).unwrap().places.into_iter();
            places.map(|place| place.name).collect::<Vec<_>>()
        };
        assert_eq!(names("pc:main"), ["main"]);
        assert_eq!(
            names("first:main+0x2,0x08000100"),
            ["main+0x2", "0x08000100"]
        );
        for text in ["", "main", "pc:", "pc:main,", "pin:PA8", "pc:main+2"] {
            assert!(mark(text).is_err(), "{text}");
        }
    }
}
