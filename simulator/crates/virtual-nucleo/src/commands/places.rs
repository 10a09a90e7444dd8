//! Places in the code, by which `--count`, `--mark`, `--stop-on` and `--trace-window` say where
//! something is done.

use anyhow::{Context, Result};
use stm32::memory::elf::Firmware;
use stm32::memory::image::parse_hexadecimal;
use stm32::memory::Memory;

/// The core counts at most 254 addresses. An address in flash needs two, one of them at its alias.
pub const MOST: usize = 127;

/// `SYMBOL`, `SYMBOL+0xOFFSET` or `0xADDRESS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// As it was written.
    pub name: String,
    /// `None`: the offset is the address.
    symbol: Option<String>,
    offset: u32,
}

impl Place {
    pub fn parse(text: &str) -> Option<Place> {
        let (symbol, offset) = match text.split_once('+') {
            _ if text.starts_with("0x") => (None, parse_hexadecimal(text)?),
            Some((symbol, offset)) => (Some(symbol), parse_hexadecimal(offset)?),
            None => (Some(text), 0),
        };
        (symbol != Some("")).then(|| Place {
            name: text.into(),
            symbol: symbol.map(String::from),
            offset,
        })
    }

    /// Its address, in flash that at the base.
    pub fn address(&self, firmware: Option<&Firmware>) -> Result<u32> {
        let base = match &self.symbol {
            None => 0,
            Some(symbol) => firmware
                .with_context(|| {
                    format!("the firmware is not given, so that {symbol} is not known: name its ELF, or give an address")
                })?
                .symbol(symbol)?,
        };
        Ok(Memory::canonical(base.wrapping_add(self.offset) & !1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_offsets_and_addresses() {
        let parsed = |text: &str| Place::parse(text).map(|place| (place.symbol, place.offset));
        let symbol = |name: &str, offset| Some((Some(name.into()), offset));
        assert_eq!(parsed("find_block+0x12"), symbol("find_block", 0x12));
        assert_eq!(parsed("find_block"), symbol("find_block", 0));
        assert_eq!(parsed("0x08000123"), Some((None, 0x0800_0123)));
        for text in ["", "symbol+12", "+0x2", "0x"] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }
}
