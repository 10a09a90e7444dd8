//! `--hse`: what is at the chip's OSC_IN.

use std::ops::RangeInclusive;
use stm32::peripherals::rcc::Hse;
use thiserror::Error;

/// Crystals that the oscillator drives (DS10086, table "HSE 4-26 MHz oscillator characteristics").
const CRYSTALS_HZ: RangeInclusive<u64> = 4_000_000..=26_000_000;

#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0:?} is no crystal of 4 to 26 MHz: write for example 8MHz or 8000000, or none")]
pub struct BadHse(String);

pub fn parse(text: &str) -> Result<Hse, BadHse> {
    if text == "none" {
        return Ok(Hse::Nothing);
    }
    let (digits, unit) = match text.strip_suffix("MHz") {
        Some(digits) => (digits, 1_000_000),
        None => (text, 1),
    };
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: Option<u64> = plain.then(|| digits.parse().ok()).flatten();
    number
        .and_then(|number| number.checked_mul(unit))
        .filter(|hz| CRYSTALS_HZ.contains(hz))
        .map(|hz| Hse::Crystal { hz })
        .ok_or_else(|| BadHse(text.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frequency_or_none() {
        let crystal = |hz| Ok(Hse::Crystal { hz });
        assert_eq!(parse("8MHz"), crystal(8_000_000));
        assert_eq!(parse("12288000"), crystal(12_288_000));
        assert_eq!(parse("none"), Ok(Hse::Nothing));
        for text in [
            "",
            "MHz",
            "8",
            "8 MHz",
            "+8MHz",
            "27MHz",
            "3999999",
            "None",
            "99999999999999999999",
        ] {
            assert_eq!(parse(text), Err(BadHse(text.into())));
        }
    }
}
