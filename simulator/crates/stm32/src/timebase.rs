//! Cycles and time. The core counts cycles of HCLK, and firmware may change HCLK and with it the
//! length of a cycle. All conversions between cycles, seconds and samples use exact integer
//! arithmetic.

use serde::{Deserialize, Serialize};
use thiserror::Error;

#[derive(Debug, Error, PartialEq, Eq)]
#[error("clocks changed among frequencies whose common period is too fine to keep time exactly")]
pub struct Incommensurable;

/// A frequency that need not be a whole number of hertz.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frequency {
    /// Hertz times `denominator`.
    pub numerator: u64,
    pub denominator: u64,
}

impl Frequency {
    pub const fn hz(hz: u64) -> Frequency {
        Frequency {
            numerator: hz,
            denominator: 1,
        }
    }

    pub(crate) fn times(self, factor: u64) -> Frequency {
        Frequency {
            numerator: self.numerator * factor,
            ..self
        }
    }

    pub(crate) fn over(self, divider: u64) -> Frequency {
        Frequency {
            denominator: self.denominator * divider,
            ..self
        }
    }

    pub fn exceeds_hz(self, hz: u64) -> bool {
        self.numerator > hz * self.denominator
    }

    pub(crate) fn below_hz(self, hz: u64) -> bool {
        self.numerator < hz * self.denominator
    }
}

/// Seconds since reset as an exact fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seconds {
    numerator: u128,
    denominator: u128,
}

impl Seconds {
    pub const ZERO: Seconds = Seconds {
        numerator: 0,
        denominator: 1,
    };

    pub fn new(numerator: u64, denominator: u64) -> Seconds {
        Seconds::reduced(u128::from(numerator), u128::from(denominator))
    }

    /// So many periods of a frequency later.
    pub fn later_by(self, periods: u64, hz: u64) -> Seconds {
        let hz = u128::from(hz);
        Seconds::reduced(
            self.numerator * hz + u128::from(periods) * self.denominator,
            self.denominator * hz,
        )
    }

    /// Numerator and denominator.
    pub fn fraction(self) -> (u128, u128) {
        (self.numerator, self.denominator)
    }

    fn reduced(numerator: u128, denominator: u128) -> Seconds {
        let divisor = gcd(numerator, denominator);
        Seconds {
            numerator: numerator / divisor,
            denominator: denominator / divisor,
        }
    }
}

/// A period in which all cycles are equally long.
#[derive(Clone, Serialize, Deserialize)]
struct Segment {
    start_cycle: u64,
    start: Seconds,
    /// HCLK in lowest terms.
    hz_numerator: u128,
    hz_denominator: u128,
}

impl Segment {
    fn new(start_cycle: u64, start: Seconds, clock: Frequency) -> Segment {
        let (numerator, denominator) = (u128::from(clock.numerator), u128::from(clock.denominator));
        let divisor = gcd(numerator, denominator);
        Segment {
            start_cycle,
            start,
            hz_numerator: numerator / divisor,
            hz_denominator: denominator / divisor,
        }
    }

    /// Seconds since reset at `cycle`, as numerator and denominator. Not reduced.
    fn seconds(&self, cycle: u64) -> (u128, u128) {
        let cycles = u128::from(cycle - self.start_cycle);
        (
            self.start.numerator * self.hz_numerator
                + cycles * self.hz_denominator * self.start.denominator,
            self.start.denominator * self.hz_numerator,
        )
    }
}

/// The limit of `start.denominator × hz_denominator`. With it, 2^45 cycles (five days at 84 MHz)
/// times a rate of 2^28 Hz stay below 2^128.
const FINEST: u128 = 1 << 48;

/// The history of HCLK since reset.
#[derive(Clone, Serialize, Deserialize)]
pub struct Timebase {
    segments: Vec<Segment>,
}

impl Timebase {
    pub fn new(clock: Frequency) -> Timebase {
        Timebase {
            segments: vec![Segment::new(0, Seconds::ZERO, clock)],
        }
    }

    /// From `cycle` on the core runs at `clock`.
    pub fn change(&mut self, cycle: u64, clock: Frequency) -> Result<(), Incommensurable> {
        let (numerator, denominator) = self.last().seconds(cycle);
        let segment = Segment::new(cycle, Seconds::reduced(numerator, denominator), clock);
        if segment.start.denominator * segment.hz_denominator > FINEST {
            return Err(Incommensurable);
        }
        self.segments.push(segment);
        Ok(())
    }

    /// How often the clock has changed.
    pub fn changes(&self) -> usize {
        self.segments.len() - 1
    }

    /// The sample in which `cycle` begins. Sample 0 begins with reset.
    pub fn sample(&self, cycle: u64, samplerate_hz: u64) -> u64 {
        self.sample_since(Seconds::ZERO, cycle, samplerate_hz)
    }

    /// The sample in which `cycle` begins. Sample 0 begins at `origin`, which is not later.
    pub fn sample_since(&self, origin: Seconds, cycle: u64, samplerate_hz: u64) -> u64 {
        let (numerator, denominator) = self.segment_of(cycle).seconds(cycle);
        let since = numerator * origin.denominator - origin.numerator * denominator;
        (since * u128::from(samplerate_hz) / (denominator * origin.denominator)) as u64
    }

    /// The time at which `cycle` begins.
    pub fn seconds(&self, cycle: u64) -> Seconds {
        let (numerator, denominator) = self.segment_of(cycle).seconds(cycle);
        Seconds::reduced(numerator, denominator)
    }

    /// HCLK at `cycle`, as a fraction of hertz.
    pub fn clock(&self, cycle: u64) -> (u128, u128) {
        let segment = self.segment_of(cycle);
        (segment.hz_numerator, segment.hz_denominator)
    }

    /// Each clock since reset: its first cycle, when that begins, and HCLK as a fraction of hertz.
    pub fn clocks(&self) -> impl Iterator<Item = (u64, Seconds, (u128, u128))> + '_ {
        self.segments.iter().map(|segment| {
            let clock = (segment.hz_numerator, segment.hz_denominator);
            (segment.start_cycle, segment.start, clock)
        })
    }

    /// The first cycle that begins at or after `time`, if the clock does not change before.
    pub fn cycle_at(&self, time: Seconds) -> u64 {
        let last = self.last();
        let cycles = (time.numerator * last.start.denominator)
            .saturating_sub(last.start.numerator * time.denominator)
            .saturating_mul(last.hz_numerator)
            .div_ceil(last.hz_denominator * last.start.denominator * time.denominator);
        last.start_cycle
            .saturating_add(u64::try_from(cycles).unwrap_or(u64::MAX))
    }

    fn last(&self) -> &Segment {
        &self.segments[self.segments.len() - 1]
    }

    fn segment_of(&self, cycle: u64) -> &Segment {
        let after = self
            .segments
            .partition_point(|segment| segment.start_cycle <= cycle);
        &self.segments[after - 1]
    }
}

/// `84000000`, or `250000000/3`.
pub fn fraction_text((numerator, denominator): (u128, u128)) -> String {
    match denominator {
        1 => numerator.to_string(),
        _ => format!("{numerator}/{denominator}"),
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 {
        a.max(1)
    } else {
        gcd(b, a % b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MHZ_84: u64 = 84_000_000;

    /// 1,001 cycles of the 16 MHz HSI, then 84 MHz.
    fn after_switch() -> Timebase {
        let mut timebase = Timebase::new(Frequency::hz(16_000_000));
        timebase.change(1_001, Frequency::hz(MHZ_84)).unwrap();
        timebase
    }

    #[test]
    fn one_cycle_is_one_sample_at_the_core_clock() {
        let timebase = after_switch();
        // 1,001 / 16 MHz = 5,255.25 samples of 84 MHz.
        assert_eq!(timebase.sample(1_001, MHZ_84), 5_255);
        for cycles in [1, 2, 839, 840, 10_000_000_000] {
            assert_eq!(timebase.sample(1_001 + cycles, MHZ_84), 5_255 + cycles);
        }
    }

    #[test]
    fn samples_begin_at_the_floor_of_time_times_rate() {
        let timebase = after_switch();
        // HSI at 84 MS/s: 5.25 samples a cycle.
        let samples: Vec<u64> = (0..5).map(|cycle| timebase.sample(cycle, MHZ_84)).collect();
        assert_eq!(samples, [0, 5, 10, 15, 21]);
        // 24 MS/s: 62.5625 µs are 1,501.5 samples; 84 cycles more are 24 samples.
        assert_eq!(timebase.sample(1_001, 24_000_000), 1_501);
        assert_eq!(timebase.sample(1_085, 24_000_000), 1_525);
    }

    #[test]
    fn times_find_the_cycle_that_begins_at_or_after_them() {
        let timebase = after_switch();
        // 1 ms − 62.5625 µs = 937.4375 µs = 78,744.75 cycles.
        assert_eq!(timebase.cycle_at(Seconds::new(1, 1_000)), 1_001 + 78_745);
        assert_eq!(timebase.cycle_at(Seconds::ZERO), 1_001);
        assert_eq!(
            Timebase::new(Frequency::hz(16)).cycle_at(Seconds::new(1, 2)),
            8
        );
    }

    #[test]
    fn a_cycle_begins_at_an_exact_time() {
        let timebase = after_switch();
        // 1,001 / 16 MHz and 21 cycles of 84 MHz, which are a quarter of a microsecond: 62.8125 µs.
        assert_eq!(
            timebase.seconds(1_022),
            Seconds::new(628_125, 10_000_000_000)
        );
        assert_eq!(timebase.clock(1_000), (16_000_000, 1));
        assert_eq!(timebase.clock(1_001), (84_000_000, 1));
        let clocks: Vec<_> = timebase.clocks().collect();
        assert_eq!(clocks[0], (0, Seconds::ZERO, (16_000_000, 1)));
        let later = Seconds::new(1_001, 16_000_000);
        assert_eq!(clocks[1..], [(1_001, later, (84_000_000, 1))]);
    }

    #[test]
    fn fractional_frequencies_are_exact() {
        // 8 MHz / 7 × 192 / 4 is no whole number of hertz.
        let clock = Frequency {
            numerator: 8_000_000 * 192,
            denominator: 28,
        };
        let timebase = Timebase::new(clock);
        assert_eq!(timebase.sample(384_000_000, 1_000_000), 7_000_000);
        assert_eq!(timebase.sample(383_999_999, 1_000_000), 6_999_999);
    }
}
