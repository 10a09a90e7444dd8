//! Which pins carry the wires of a bus: the rows of a chip's table, `PB6 AF4 I2C1_SCL`, or where AFIO
//! chooses `PB8 REMAP1 I2C1_SCL`.

use super::Bus;
use crate::edges::Pin;
use crate::peripherals::remap;
use serde::{Deserialize, Serialize};

/// The wires of a bus, in the order of their bits in [`super::wires::Wires`]; and whether the chip drives
/// them.
pub fn roles(bus: Bus) -> &'static [(&'static str, bool)] {
    match bus {
        Bus::I2c => &[("SCL", true), ("SDA", true)],
        Bus::Spi => &[
            ("SCK", true),
            ("MOSI", true),
            ("MISO", false),
            ("NSS", true),
        ],
        Bus::Uart => &[("TX", true), ("RX", false)],
    }
}

/// A pin that may carry a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusPin {
    pub pin: Pin,
    /// As [`crate::peripherals::alternate_functions::UsartPin`] has it.
    pub function: u32,
    /// The bit of its wire.
    pub wire: usize,
    /// The chip drives it, so it must be an output.
    pub is_output: bool,
}

impl BusPin {
    /// A row of a table, if it is of this peripheral.
    pub fn of_row(row: &str, peripheral: &str, bus: Bus) -> Option<BusPin> {
        let words: Vec<&str> = row.split_whitespace().collect();
        let [pin, function, signal] = words[..] else {
            return None;
        };
        let role = signal.strip_prefix(peripheral)?.strip_prefix('_')?;
        let wire = roles(bus).iter().position(|(name, _)| *name == role)?;
        Some(BusPin {
            pin: pin.parse().ok()?,
            function: match function.strip_prefix("REMAP") {
                Some(value) => remap::code(peripheral, value.parse().ok()?)? << 4,
                None => function.strip_prefix("AF")?.parse().ok()?,
            },
            wire,
            is_output: roles(bus)[wire].1,
        })
    }
}
