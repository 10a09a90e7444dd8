//! What is at the other end of a wire: devices on a bus, what answers on a serial line, and edges that
//! come from outside (docs/reference/partners.md). A new device is a file here, and in `attachment.rs` a
//! variant of `Device` and a row of `KINDS`.
//!
//! A partner knows bytes and the time. It sees neither the host's clock nor its files, so the same
//! program with the same partners gives the same bytes.

pub mod attachment;
mod edges;
mod eeprom;
pub mod pins;
mod replies;
mod sensor;
pub mod wires;

/// A device. Each of its methods has the time since power-up in nanoseconds.
pub trait Partner {
    /// I2C: a START, or a repeated one, and this address of seven bits. Whether it acknowledges.
    fn addressed(&mut self, address: u8, now_ns: u64) -> bool {
        let _ = (address, now_ns);
        false
    }

    /// SPI: its chip select went low.
    fn selected(&mut self, now_ns: u64) {
        let _ = now_ns;
    }

    /// The byte that it sends next: to a master of I2C that reads, or on MISO.
    fn sends(&mut self, now_ns: u64) -> u8 {
        let _ = now_ns;
        0xFF
    }

    /// A byte that the chip has sent. Whether it acknowledges, on I2C.
    fn takes(&mut self, byte: u8, now_ns: u64) -> bool {
        let _ = (byte, now_ns);
        false
    }

    /// I2C: a STOP. SPI: its chip select went high.
    fn released(&mut self, now_ns: u64) {
        let _ = now_ns;
    }

    /// When it next does something by itself. `None`: never.
    fn acts_at_ns(&self) -> Option<u64> {
        None
    }

    /// What it does by itself, at [`Partner::acts_at_ns`].
    fn act(&mut self, now_ns: u64) -> Act {
        let _ = now_ns;
        Act::Says(Vec::new())
    }
}

/// What a partner does by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Bytes for the receiver of a USART.
    Says(Vec<u8>),
    /// The level of a pin from now on.
    Drives(bool),
}

/// The wires that a device can hang on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bus {
    I2c,
    Spi,
    Uart,
}

/// What is wrong with a file: TOML's own error, or a key and what to do.
enum Fault {
    Toml(toml::de::Error),
    Key(String),
}

impl From<toml::de::Error> for Fault {
    fn from(error: toml::de::Error) -> Fault {
        Fault::Toml(error)
    }
}

/// A fault with this sentence unless it holds.
fn must(holds: bool, why: impl FnOnce() -> String) -> Result<(), Fault> {
    match holds {
        true => Ok(()),
        false => Err(Fault::Key(why())),
    }
}

/// An address of I2C for a device; those of the others are the bus's own (UM10204 §3.1.12).
fn check_address(address: u8, last: u8) -> Result<(), Fault> {
    must(address >= 0x08 && last <= 0x77 && address <= last, || {
        format!("address = {address:#04x} is not 0x08 to 0x77: write its seven bits, without R/W")
    })
}

const NS_PER_US: u64 = 1_000;
/// No time in a file is longer: eleven days.
const MOST_US: u64 = 1_000_000_000_000;
