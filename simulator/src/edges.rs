//! Pins and the edges on them.

use crate::peripherals::gpio::PORTS;
use serde::{Deserialize, Serialize};
use std::fmt;

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

/// A change of level at a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// Core cycles since reset.
    pub cycle: u64,
    pub pin: Pin,
    pub level: bool,
    /// The chip drove the pin before or drives it after the edge; otherwise a pull resistor moved it.
    pub output: bool,
}

const fn pin(port: u8, number: u8) -> Pin {
    Pin { port, number }
}

/// The analyzer's channels in order (docs/SPEC.md, section 1): CRIT, OP, STIM, ISR, TASK, CTRL, CISR, SYNC.
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

/// The analyzer channel clipped to a pin.
pub fn channel_of(pin: Pin) -> Option<usize> {
    CHANNELS.iter().position(|channel| *channel == pin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_named_as_on_the_chip() {
        assert_eq!(pin(0, 8).to_string(), "PA8");
        assert_eq!(pin(5, 1).to_string(), "PH1");
    }
}
