//! `--until`: a time since reset or a number of cycles.

use anyhow::{Context, Result};
use machine::Limit;
use stm32::timebase::Seconds;

/// Units, and how many of them make a second. Longer names first, so that `ms` is not read as `s`.
const UNITS: [(&str, u64); 4] = [
    ("ns", 1_000_000_000),
    ("us", 1_000_000),
    ("ms", 1_000),
    ("s", 1),
];

pub fn parse(text: &str) -> Result<Limit> {
    let limit = match text.strip_prefix("cycles:") {
        Some(cycles) => whole(cycles).map(Limit::Cycle),
        None => UNITS.iter().find_map(|(unit, per_second)| {
            let number = whole(text.strip_suffix(unit)?)?;
            Some(Limit::Time(Seconds::new(number, *per_second)))
        }),
    };
    limit.with_context(|| format!("{text:?} is neither a time nor a cycle: write for example 100ms, 2s, 50us, 900ns or cycles:8400000"))
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
        assert_eq!(parse("cycles:8400000").unwrap(), Limit::Cycle(8_400_000));
        assert_eq!(parse("100ms").unwrap(), Limit::Time(Seconds::new(1, 10)));
        assert_eq!(parse("2s").unwrap(), Limit::Time(Seconds::new(2, 1)));
        assert_eq!(
            parse("50us").unwrap(),
            Limit::Time(Seconds::new(50, 1_000_000))
        );
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
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
