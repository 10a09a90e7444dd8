//! `--until`: a time since reset or a number of cycles.

use machine::Limit;
use stm32::timebase::Seconds;
use thiserror::Error;

#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0:?} is neither a time nor a cycle: write for example 100ms, 2s, 50us, 900ns or cycles:8400000")]
pub struct BadLimit(String);

/// Units, and how many of them make a second. Longer names first, so that `ms` is not read as `s`.
const UNITS: [(&str, u64); 4] = [
    ("ns", 1_000_000_000),
    ("us", 1_000_000),
    ("ms", 1_000),
    ("s", 1),
];

pub fn parse(text: &str) -> Result<Limit, BadLimit> {
    let bad = || BadLimit(text.into());
    if let Some(cycles) = text.strip_prefix("cycles:") {
        return Ok(Limit::Cycle(whole(cycles).ok_or_else(bad)?));
    }
    let (number, per_second) = UNITS
        .iter()
        .find_map(|(unit, per_second)| Some((text.strip_suffix(unit)?, *per_second)))
        .ok_or_else(bad)?;
    Ok(Limit::Time(Seconds::new(
        whole(number).ok_or_else(bad)?,
        per_second,
    )))
}

pub fn whole(digits: &str) -> Option<u64> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_cycles() {
        assert_eq!(parse("cycles:8400000"), Ok(Limit::Cycle(8_400_000)));
        assert_eq!(parse("100ms"), Ok(Limit::Time(Seconds::new(1, 10))));
        assert_eq!(parse("2s"), Ok(Limit::Time(Seconds::new(2, 1))));
        assert_eq!(parse("50us"), Ok(Limit::Time(Seconds::new(50, 1_000_000))));
    }

    #[test]
    fn nothing_else() {
        for text in [
            "",
            "s",
            "100",
            "1.5ms",
            "-1s",
            "+1s",
            "cycles:",
            "cycles:0x10",
            "100 ms",
            "99999999999999999999s",
        ] {
            assert_eq!(parse(text), Err(BadLimit(text.into())));
        }
    }
}
