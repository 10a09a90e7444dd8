//! `--stop-on`: what ends a run early.

use super::counts::{address_of, CountError};
use machine::observe::condition::Condition;
use std::str::FromStr;
use stm32::edges::{BadPin, Pin};
use stm32::memory::elf::Firmware;
use stm32::memory::Memory;
use thiserror::Error;

#[derive(Debug, Error, PartialEq, Eq)]
pub enum BadStop {
    #[error("{0:?} is no condition: write pin:PA8=1, pulse:PA8>3000 (cycles), fault, pc:SYMBOL, pc:SYMBOL+0xOFFSET or pc:0xADDRESS")]
    Form(String),
    #[error(transparent)]
    Pin(#[from] BadPin),
}

/// One `--stop-on`. A place in the code is looked up when the firmware is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopArgument {
    Level { pin: Pin, level: bool },
    Pulse { pin: Pin, longest_cycles: u64 },
    Fault,
    Execution { place: String },
}

impl FromStr for StopArgument {
    type Err = BadStop;

    fn from_str(text: &str) -> Result<Self, BadStop> {
        let bad = || BadStop::Form(text.into());
        if text == "fault" {
            return Ok(StopArgument::Fault);
        }
        let (kind, rest) = text.split_once(':').ok_or_else(bad)?;
        match kind {
            "pin" => {
                let (pin, level) = rest.split_once('=').ok_or_else(bad)?;
                Ok(StopArgument::Level {
                    pin: pin.parse()?,
                    level: binary(level).ok_or_else(bad)?,
                })
            }
            "pulse" => {
                let (pin, cycles) = rest.split_once('>').ok_or_else(bad)?;
                Ok(StopArgument::Pulse {
                    pin: pin.parse()?,
                    longest_cycles: whole(cycles).ok_or_else(bad)?,
                })
            }
            "pc" if !rest.is_empty() => Ok(StopArgument::Execution { place: rest.into() }),
            _ => Err(bad()),
        }
    }
}

fn binary(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

fn whole(digits: &str) -> Option<u64> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum NoPlace {
    #[error(transparent)]
    Unknown(#[from] CountError),
    #[error("{0:?} is no place in the code: write pc:SYMBOL, pc:SYMBOL+0xOFFSET or pc:0xADDRESS")]
    Form(String),
}

impl StopArgument {
    pub fn condition(&self, firmware: Option<&Firmware>) -> Result<Condition, NoPlace> {
        Ok(match self {
            StopArgument::Level { pin, level } => Condition::Level {
                pin: *pin,
                level: *level,
            },
            StopArgument::Pulse {
                pin,
                longest_cycles,
            } => Condition::Pulse {
                pin: *pin,
                longest_cycles: *longest_cycles,
                high_since: None,
            },
            StopArgument::Fault => Condition::Fault { exception: 0 },
            StopArgument::Execution { place } => {
                let address = address_of(place, firmware)?;
                Condition::Execution {
                    address: Memory::canonical(
                        address.ok_or_else(|| NoPlace::Form(place.clone()))?,
                    ),
                    name: place.clone(),
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_kinds() {
        let pin = "PA8".parse().unwrap();
        let parsed = |text: &str| text.parse::<StopArgument>();
        let level = true;
        assert_eq!(parsed("pin:PA8=1"), Ok(StopArgument::Level { pin, level }));
        assert_eq!(
            parsed("pulse:CRIT>3000"),
            Ok(StopArgument::Pulse {
                pin,
                longest_cycles: 3_000
            })
        );
        assert_eq!(parsed("fault"), Ok(StopArgument::Fault));
        let place = "find+0x12".into();
        assert_eq!(
            parsed("pc:find+0x12"),
            Ok(StopArgument::Execution { place })
        );
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
            assert!(text.parse::<StopArgument>().is_err(), "{text}");
        }
    }
}
