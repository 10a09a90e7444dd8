//! Window watchdog (RM0368 §16): a counter of seven bits on PCLK1. It resets the chip when it runs
//! out, and when it is refreshed too early.

use super::registers::{registers, Registers, Unmodelled};
use super::{Peripheral, ResetCause, Supply};
use serde::{Deserialize, Serialize};

const COUNTER: u32 = 0x7F;
const WDGA: u32 = 1 << 7;
const EWI: u32 = 1 << 9;
const EWIF: u32 = 1 << 0;
/// At this count the early wakeup comes. It is the last one before the reset (T6 is still set).
const LAST: u32 = 0x40;
const PRESCALER_SHIFT: u32 = 7;
/// Clocks of one count at WDGTB = 0 (§16.4).
const COUNT_CLOCKS: u64 = 4096;

registers! {
    TABLE:
    CR = 0x00, 0x7F, WDGA | COUNTER;
    CFR = 0x04, 0x7F, EWI | 0b11 << PRESCALER_SHIFT | COUNTER;
    SR = 0x08, 0, EWIF;
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Wwdg {
    registers: Registers,
    /// Core cycles per PCLK1; `None` while RCC gates the clock.
    divider: Option<u64>,
    /// The cycle for which the fields below hold. `None` after a reset.
    since: Option<u64>,
    count: u32,
    /// Clocks of PCLK1 since the current count began.
    clocks: u64,
    expired: bool,
}

impl Default for Wwdg {
    fn default() -> Self {
        Wwdg {
            registers: Registers::new("WWDG", TABLE),
            divider: None,
            since: None,
            count: COUNTER,
            clocks: 0,
            expired: false,
        }
    }
}

impl Wwdg {
    /// Changes the clock at cycle `now`: core cycles per PCLK1. `None`: the clock is off.
    fn set_divider(&mut self, divider: Option<u64>, now: u64) {
        if divider != self.divider {
            self.advance(now);
            self.divider = divider;
            self.since = Some(now);
        }
    }

    fn count_down(&mut self, counts: u64) {
        if counts >= u64::from(self.counts_to(LAST)) {
            self.registers.set_bits(SR, EWIF, true);
        }
        self.expired |= self.running() && counts >= u64::from(self.counts_to(LAST - 1));
        self.count = self.count.wrapping_sub(counts as u32) & COUNTER;
    }

    fn running(&self) -> bool {
        self.registers.has(CR, WDGA)
    }

    /// Counts until `value` is reached, at least one. While the watchdog is off, the counter wraps
    /// (§16.3).
    fn counts_to(&self, value: u32) -> u32 {
        (self.count.wrapping_sub(value).wrapping_sub(1) & COUNTER) + 1
    }

    fn count_clocks(&self) -> u64 {
        COUNT_CLOCKS << (self.registers.get(CFR) >> PRESCALER_SHIFT & 0b11)
    }

    /// Activates or refreshes (§16.3). A refresh that is too early, or to a value that has run out,
    /// resets the chip. Only a reset turns the watchdog off.
    fn write_control(&mut self, value: u32) {
        let window = self.registers.get(CFR) & COUNTER;
        let early = self.running() && self.count > window;
        self.registers
            .set(CR, value | self.registers.get(CR) & WDGA);
        self.count = value & COUNTER;
        self.clocks = 0;
        self.expired |= self.running() && (early || self.count < LAST);
    }

    /// Only a reset clears EWI (§16.6.2).
    fn write_configuration(&mut self, value: u32) {
        let kept = self.registers.get(CFR) & EWI;
        self.registers.set(CFR, value | kept);
        self.clocks %= self.count_clocks();
    }
}

impl Peripheral for Wwdg {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn read(&mut self, offset: u32, now: u64) -> u32 {
        self.advance(now);
        match offset {
            CR => self.registers.get(CR) & WDGA | self.count,
            _ => self.registers.get(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, now: u64) -> Result<(), Unmodelled> {
        self.advance(now);
        match offset {
            CR => self.write_control(value),
            CFR => self.write_configuration(value),
            // Writing one keeps the flag (§16.6.3).
            _ => self.registers.set_bits(SR, !value & EWIF, false),
        }
        Ok(())
    }

    fn reset(&mut self) {
        *self = Wwdg {
            divider: self.divider,
            ..Wwdg::default()
        };
    }

    fn next_event(&self) -> Option<u64> {
        let wakeup = (self.registers.has(CFR, EWI)).then(|| self.counts_to(LAST));
        let reset = self.running().then(|| self.counts_to(LAST - 1));
        let counts = wakeup.into_iter().chain(reset).min()?;
        let clocks = u64::from(counts) * self.count_clocks() - self.clocks;
        Some(self.since? + clocks * self.divider?)
    }

    fn advance(&mut self, now: u64) {
        let since = self.since.unwrap_or(now);
        let Some(divider) = self.divider else {
            self.since = Some(now);
            return;
        };
        let passed = now.saturating_sub(since) / divider;
        self.since = Some(since + passed * divider);
        let clocks = self.clocks + passed;
        self.clocks = clocks % self.count_clocks();
        self.count_down(clocks / self.count_clocks());
    }

    fn interrupts(&self) -> u32 {
        u32::from(self.registers.has(CFR, EWI) && self.registers.has(SR, EWIF))
    }

    fn set_clocks(&mut self, clocks: &Supply, now: u64) {
        self.set_divider(clocks.bus, now);
    }

    fn take_reset(&mut self) -> Option<ResetCause> {
        std::mem::take(&mut self.expired).then_some(ResetCause::WindowWatchdog)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peripherals::tests::*;

    /// PCLK1 is half the core's clock. `prescaler` is WDGTB.
    fn watchdog(prescaler: u32, window: u32) -> Wwdg {
        let mut wwdg = Wwdg::default();
        wwdg.set_divider(Some(2), 0);
        wwdg.write(CFR, prescaler << PRESCALER_SHIFT | window, 0)
            .unwrap();
        wwdg
    }

    fn expires(mut wwdg: Wwdg) -> u64 {
        let event = wwdg.next_event().unwrap();
        wwdg.advance(event - 1);
        assert!(wwdg.take_reset().is_none());
        wwdg.advance(event);
        assert!(wwdg.take_reset().is_some());
        event
    }

    #[test]
    fn the_timeouts_are_those_of_the_formula() {
        // §16.4: t(PCLK1) × 4096 × 2^WDGTB × (T[5:0] + 1).
        for (prescaler, counter, clocks) in [
            (0, 0x40, 4_096),
            (0, 0x7F, 64 * 4_096),
            (1, 0x45, 6 * 8_192),
            (3, 0x7F, 64 * 32_768),
        ] {
            let mut wwdg = watchdog(prescaler, 0x7F);
            wwdg.write(CR, WDGA | counter, 10).unwrap();
            assert_eq!(expires(wwdg), 10 + 2 * clocks);
        }
    }

    #[test]
    fn the_early_wakeup_comes_one_count_before() {
        let mut wwdg = watchdog(0, 0x7F);
        wwdg.follow([
            Write(CFR, EWI | 0x7F, 0),
            Write(CFR, 0x7F, 0),
            Read(CFR, EWI | 0x7F, 0),
            Write(CR, WDGA | 0x42, 0),
        ]);
        let event = wwdg.next_event().unwrap();
        assert_eq!(event, 2 * 2 * 4_096);
        wwdg.advance(event);
        assert!(wwdg.interrupts() != 0 && wwdg.take_reset().is_none());
        wwdg.follow([
            Write(SR, 1, event),
            Interrupts(1),
            Write(SR, 0, event),
            Interrupts(0),
        ]);
        assert_eq!(expires(wwdg), 3 * 2 * 4_096);
    }

    #[test]
    fn a_refresh_outside_the_window_resets() {
        let count = 2 * 4_096;
        for (at, early) in [(15 * count - 1, true), (15 * count, false)] {
            let mut wwdg = watchdog(0, 0x70);
            wwdg.write(CR, WDGA | 0x7F, 0).unwrap();
            wwdg.write(CR, 0x7F, at).unwrap();
            assert_eq!(wwdg.take_reset().is_some(), early, "{at}");
            assert_eq!(wwdg.read(CR, at), WDGA | 0x7F);
        }
        let mut wwdg = watchdog(0, 0x7F);
        wwdg.write(CR, 0x3F, 0).unwrap();
        assert!(wwdg.take_reset().is_none());
        wwdg.write(CR, WDGA | 0x3F, 0).unwrap();
        assert!(wwdg.take_reset().is_some());
    }

    #[test]
    fn off_it_goes_round_and_its_reset_stands_for_a_beginning() {
        let mut wwdg = watchdog(0, 0x7F);
        wwdg.follow([
            Event(None),
            Read(CR, 0, 2 * 4_096 * 127),
            Read(CR, 0x7F, 2 * 4_096 * 128),
            Read(SR, EWIF, 2 * 4_096 * 128),
        ]);
        wwdg.reset();
        wwdg.follow([
            Read(CR, 0x7F, 9_000_000),
            Read(CR, 0x7E, 9_000_000 + 2 * 4_096),
        ]);
    }

    #[test]
    fn without_its_clock_it_stands_still() {
        let mut wwdg = watchdog(0, 0x7F);
        wwdg.write(CR, WDGA | 0x40, 0).unwrap();
        wwdg.set_divider(None, 4_096);
        assert_eq!(wwdg.next_event(), None);
        wwdg.set_divider(Some(4), 1_000_000);
        assert_eq!(expires(wwdg), 1_000_000 + 4 * 2_048);
    }
}
