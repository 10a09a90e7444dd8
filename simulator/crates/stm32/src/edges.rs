//! Pins and the edges on them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The ports of the line, in the order of their index, which is also how SYSCFG codes them. Ports F,
/// G and I are those of the larger chips.
pub const PORTS: [&str; 9] = [
    "GPIOA", "GPIOB", "GPIOC", "GPIOD", "GPIOE", "GPIOF", "GPIOG", "GPIOH", "GPIOI",
];

/// A pin of the chip: `PA8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// Index into [`PORTS`].
    pub port: u8,
    pub number: u8,
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = &PORTS[usize::from(self.port)]["GPIO".len()..];
        write!(f, "P{letter}{}", self.number)
    }
}

#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "{0:?} is no pin: write PA0 to PI15, or a channel: CRIT, OP, STIM, ISR, TASK, CTRL, CISR, SYNC"
)]
pub struct BadPin(String);

impl FromStr for Pin {
    type Err = BadPin;

    /// A pin by the name of the pin or of its channel.
    fn from_str(text: &str) -> Result<Pin, BadPin> {
        if let Some(channel) = CHANNEL_NAMES.iter().position(|name| *name == text) {
            return Ok(CHANNELS[channel]);
        }
        (0..PORTS.len() as u8)
            .flat_map(|port| (0..16).map(move |number| Pin { port, number }))
            .find(|pin| pin.to_string() == text)
            .ok_or_else(|| BadPin(text.into()))
    }
}

/// A change of level at a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// Core cycles since reset.
    pub cycle: u64,
    pub pin: Pin,
    pub level: bool,
    /// The chip, or a partner, drives the pin before or after the edge. Otherwise a pull resistor moved it.
    pub output: bool,
}

const fn pin(port: u8, number: u8) -> Pin {
    Pin { port, number }
}

/// The analyzer's channels in order (docs/reference/pins.md): CRIT, OP, STIM, ISR, TASK, CTRL,
/// CISR, SYNC.
pub const CHANNELS: [Pin; 8] = [
    pin(0, 8),
    pin(0, 9),
    pin(0, 0),
    pin(0, 10),
    pin(1, 10),
    pin(0, 1),
    pin(1, 5),
    pin(1, 4),
];

/// Their names, in the same order.
pub const CHANNEL_NAMES: [&str; 8] = ["CRIT", "OP", "STIM", "ISR", "TASK", "CTRL", "CISR", "SYNC"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_named_as_on_the_chip() {
        assert_eq!(pin(0, 8).to_string(), "PA8");
        assert_eq!(pin(7, 1).to_string(), "PH1");
    }

    #[test]
    fn pins_are_found_by_both_of_their_names() {
        assert_eq!("PB10".parse(), Ok(pin(1, 10)));
        assert_eq!("OP".parse(), Ok(pin(0, 9)));
        for text in ["", "PA", "PA16", "PA08", "PJ0", "pa1", "op"] {
            assert_eq!(text.parse::<Pin>(), Err(BadPin(text.into())));
        }
    }
}
