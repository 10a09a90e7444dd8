//! `--mark pc:PLACE[,PLACE]…`, `--mark first:PLACE[,PLACE]…` and `--trace-window FROM..TO`: places whose passages are noted, and a
//! stretch whose instructions are.

use super::counts::{address_of, CountError};
use super::limit::whole;
use cortex_m::{Core, Passage};
use machine::observe::stretch::{Bound, Stretch};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use stm32::memory::elf::Firmware;
use stm32::memory::Memory;
use thiserror::Error;

#[derive(Debug, Error, PartialEq, Eq)]
pub enum BadMark {
    #[error("{0:?} is no mark: write pc:SYMBOL, pc:SYMBOL+0xOFFSET or pc:0xADDRESS, or several places with commas between them; first: instead of pc: notes only their first executions")]
    Form(String),
    #[error("{0:?} is no window: write FROM..TO, each a cycle or pc:PLACE, such as 84000..85000 or pc:main..pc:main+0x20")]
    Window(String),
    #[error("the window {0} ends before it begins")]
    Backwards(String),
    #[error(transparent)]
    Unknown(#[from] CountError),
    #[error("too many places to mark and count: at most 127")]
    TooMany,
}

/// One `--mark`: the places as they were written, and whether only their first passages are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkArgument {
    places: Vec<String>,
    once: bool,
}

impl FromStr for MarkArgument {
    type Err = BadMark;

    fn from_str(text: &str) -> Result<Self, BadMark> {
        let once = text.starts_with("first:");
        let rest = text.strip_prefix(if once { "first:" } else { "pc:" });
        let places = rest.map(|places| places.split(','));
        let places: Vec<String> = places.into_iter().flatten().map(String::from).collect();
        if places.is_empty() || places.iter().any(String::is_empty) {
            return Err(BadMark::Form(text.into()));
        }
        Ok(MarkArgument { places, once })
    }
}

/// The core counts at most 254 addresses. An address in flash needs two, one of them at its alias.
const MOST: usize = 127;

/// The marks of a run, by the indices of their passages.
#[derive(Default)]
pub struct Marks {
    /// The names of each place, as they were written.
    names: Vec<Vec<String>>,
}

impl Marks {
    pub const HEADER: &'static [u8] = b"mark,cycle,end_cycle,exception,sp,end_sp,next_pc,task\n";

    /// Marks the places. `counted` addresses are counted already. `task` is the word that points to
    /// the task that runs.
    pub fn set(
        arguments: &[MarkArgument],
        counted: usize,
        firmware: Option<&Firmware>,
        task: Option<u32>,
        core: &mut Core,
    ) -> Result<Marks, BadMark> {
        let mut addresses: BTreeMap<u32, usize> = BTreeMap::new();
        let mut names: Vec<Vec<String>> = Vec::new();
        let mut always = BTreeSet::new();
        let places = arguments.iter().flat_map(|argument| {
            let once = argument.once;
            argument.places.iter().map(move |place| (place, once))
        });
        for (place, once) in places {
            let address = canonical(place, firmware)?.ok_or_else(|| BadMark::Form(place.into()))?;
            if !once {
                always.insert(address);
            }
            let index = *addresses.entry(address).or_insert(names.len());
            if index == names.len() {
                names.push(Vec::new());
            }
            if !names[index].contains(place) {
                names[index].push(place.clone());
            }
        }
        if names.len() + counted > MOST {
            return Err(BadMark::TooMany);
        }
        for (address, index) in addresses {
            let places = [Some(address), Memory::alias(address)];
            for place in places.into_iter().flatten() {
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

fn canonical(place: &str, firmware: Option<&Firmware>) -> Result<Option<u32>, CountError> {
    Ok(address_of(place, firmware)?.map(Memory::canonical))
}

/// One `--trace-window`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowArgument {
    from: BoundArgument,
    to: BoundArgument,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum BoundArgument {
    Cycle(u64),
    Place(String),
}

impl FromStr for WindowArgument {
    type Err = BadMark;

    fn from_str(text: &str) -> Result<Self, BadMark> {
        let bad = || BadMark::Window(text.into());
        let (from, to) = text.split_once("..").ok_or_else(bad)?;
        let bound = |text: &str| match text.strip_prefix("pc:") {
            Some(place) if !place.is_empty() => Ok(BoundArgument::Place(place.into())),
            Some(_) => Err(bad()),
            None => whole(text).map(BoundArgument::Cycle).ok_or_else(bad),
        };
        let window = WindowArgument {
            from: bound(from)?,
            to: bound(to)?,
        };
        match (&window.from, &window.to) {
            (BoundArgument::Cycle(from), BoundArgument::Cycle(to)) if from >= to => {
                Err(BadMark::Backwards(text.into()))
            }
            _ => Ok(window),
        }
    }
}

impl WindowArgument {
    pub fn stretch(&self, firmware: Option<&Firmware>) -> Result<Stretch, BadMark> {
        let bound = |bound: &BoundArgument| -> Result<Bound, BadMark> {
            Ok(match bound {
                BoundArgument::Cycle(cycle) => Bound::Cycle(*cycle),
                BoundArgument::Place(place) => Bound::Place {
                    address: canonical(place, firmware)?
                        .ok_or_else(|| BadMark::Form(place.clone()))?,
                    name: place.clone(),
                },
            })
        };
        Ok(Stretch::new(bound(&self.from)?, bound(&self.to)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_places_with_commas() {
        let parsed = |text: &str| text.parse::<MarkArgument>().map(|mark| mark.places);
        assert_eq!(parsed("pc:main"), Ok(vec!["main".into()]));
        let two = vec!["main+0x2".into(), "0x08000100".into()];
        assert_eq!(parsed("pc:main+0x2,0x08000100"), Ok(two));
        for text in ["", "main", "pc:", "pc:main,", "pin:PA8"] {
            assert!(parsed(text).is_err(), "{text}");
        }
    }

    #[test]
    fn windows_are_cycles_or_places() {
        for text in ["1..2", "pc:a..pc:b", "5..pc:b", "pc:a+0x2..900"] {
            assert!(text.parse::<WindowArgument>().is_ok(), "{text}");
        }
        for text in ["", "1", "1..", "..2", "pc:..2", "x..3", "1...2"] {
            assert!(text.parse::<WindowArgument>().is_err(), "{text}");
        }
        for text in ["2..1", "2..2"] {
            let backwards = Err(BadMark::Backwards(text.into()));
            assert_eq!(text.parse::<WindowArgument>(), backwards, "{text}");
        }
    }
}
