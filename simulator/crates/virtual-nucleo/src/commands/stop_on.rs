//! `--stop-on`, which ends a run early, and `--trace-window FROM..TO`, a stretch of it.

use super::limit::whole;
use super::places::Place;
use anyhow::{bail, Context, Result};
use machine::observe::condition::Condition;
use machine::observe::stretch::{Bound, Stretch};
use stm32::edges::Pin;
use stm32::memory::elf::Firmware;

/// One `--stop-on`. A place in the code is looked up when the firmware is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopArgument {
    Level { pin: Pin, level: bool },
    Pulse { pin: Pin, longest_cycles: u64 },
    Fault,
    Execution(Place),
}

pub fn stop(text: &str) -> Result<StopArgument> {
    if text == "fault" {
        return Ok(StopArgument::Fault);
    }
    let (kind, rest) = text.split_once(':').unwrap_or_default();
    let (pin, level) = rest.split_once('=').unwrap_or_default();
    let (pulse, cycles) = rest.split_once('>').unwrap_or_default();
    Ok(match (kind, level, whole(cycles), Place::parse(rest)) {
        ("pin", "0" | "1", ..) => StopArgument::Level {
            pin: pin.parse()?,
            level: level == "1",
        },
        ("pulse", _, Some(longest_cycles), _) => StopArgument::Pulse {
            pin: pulse.parse()?,
            longest_cycles,
        },
        ("pc", _, _, Some(place)) => StopArgument::Execution(place),
        _ => bail!("{text:?} is no condition: write pin:PA8=1, pulse:PA8>3000 (cycles), fault, pc:SYMBOL, pc:SYMBOL+0xOFFSET or pc:0xADDRESS"),
    })
}

impl StopArgument {
    pub fn condition(&self, firmware: Option<&Firmware>) -> Result<Condition> {
        Ok(match self.clone() {
            StopArgument::Level { pin, level } => Condition::Level { pin, level },
            StopArgument::Pulse {
                pin,
                longest_cycles,
            } => Condition::Pulse {
                pin,
                longest_cycles,
                high_since: None,
            },
            StopArgument::Fault => Condition::Fault { exception: 0 },
            StopArgument::Execution(place) => Condition::Execution {
                address: place.address(firmware)?,
                name: place.name,
            },
        })
    }
}

/// One `--trace-window`: where it begins and where it ends.
#[derive(Clone)]
pub struct WindowArgument(BoundArgument, BoundArgument);

#[derive(Clone)]
enum BoundArgument {
    Cycle(u64),
    Place(Place),
}

pub fn window(text: &str) -> Result<WindowArgument> {
    let bound = |text: &str| match text.strip_prefix("pc:") {
        Some(place) => Place::parse(place).map(BoundArgument::Place),
        None => whole(text).map(BoundArgument::Cycle),
    };
    let bounds = text.split_once("..");
    let bounds = bounds.and_then(|(from, to)| Some((bound(from)?, bound(to)?)));
    match bounds.with_context(|| format!("{text:?} is no window: write FROM..TO, each a cycle or pc:PLACE, such as 84000..85000 or pc:main..pc:main+0x20"))? {
        (BoundArgument::Cycle(from), BoundArgument::Cycle(to)) if from >= to => {
            bail!("the window {text} ends before it begins")
        }
        (from, to) => Ok(WindowArgument(from, to)),
    }
}

impl WindowArgument {
    pub fn stretch(&self, firmware: Option<&Firmware>) -> Result<Stretch> {
        let bound = |bound: &BoundArgument| -> Result<Bound> {
            Ok(match bound {
                BoundArgument::Cycle(cycle) => Bound::Cycle(*cycle),
                BoundArgument::Place(place) => Bound::Place {
                    address: place.address(firmware)?,
                    name: place.name.clone(),
                },
            })
        };
        Ok(Stretch::new(bound(&self.0)?, bound(&self.1)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_kinds() {
        let pin = "PA8".parse().unwrap();
        let parsed = |text: &str| stop(text).unwrap();
        let level = true;
        assert_eq!(parsed("pin:PA8=1"), StopArgument::Level { pin, level });
        let longest_cycles = 3_000;
        assert_eq!(
            parsed("pulse:CRIT>3000"),
            StopArgument::Pulse {
                pin,
                longest_cycles
            }
        );
        assert_eq!(parsed("fault"), StopArgument::Fault);
        let place = Place::parse("find+0x12").unwrap();
        assert_eq!(parsed("pc:find+0x12"), StopArgument::Execution(place));
    }

    #[test]
    fn nothing_else() {
        for text in [
            "",
            "faults",
            "pin:PA8",
            "pin:PA8=2",
            "pin:PX1=1",
            "pulse:PA8",
            "pulse:PA8>",
            "pulse:PA8>-1",
            "pulse:PA8>99999999999999999999",
            "pc:",
        ] {
            assert!(stop(text).is_err(), "{text}");
        }
    }

    #[test]
    fn windows_are_cycles_or_places() {
        for text in ["1..2", "pc:a..pc:b", "5..pc:b", "pc:a+0x2..900"] {
            assert!(window(text).is_ok(), "{text}");
        }
        for text in [
            "", "1", "1..", "..2", "pc:..2", "x..3", "1...2", "2..1", "2..2",
        ] {
            assert!(window(text).is_err(), "{text}");
        }
    }
}
