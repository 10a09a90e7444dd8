//! SysTick (B3.3): a 24-bit down counter, computed from the cycle count when it is read.

use serde::{Deserialize, Serialize};

const ENABLE: u32 = 1 << 0;
const TICKINT: u32 = 1 << 1;
/// Set: processor clock. Clear: the reference, which is HCLK / 8 on the STM32F4 (RM0368, 6.2).
const CLKSOURCE: u32 = 1 << 2;
const COUNTFLAG: u32 = 1 << 16;
const COUNTER_MASK: u32 = 0xFF_FFFF;
/// 1 ms at the reference of 10.5 MHz (RM0368, 10.1.1).
const CALIBRATION: u32 = 10_500;

#[derive(Clone, Serialize, Deserialize)]
pub struct SysTick {
    control: u32,
    reload: u32,
    /// The counter's value at `epoch`. While it is disabled, at any time.
    value: u32,
    epoch: u64,
    /// COUNTFLAG, as set by zeros before `next_zero`.
    count_flag: bool,
    /// The cycle of the first zero that `sync` has not handled. NEVER if none will come. Follows
    /// from the fields above, which only [`SysTick::write`] changes.
    next_zero: u64,
}

const NEVER: u64 = u64::MAX;

impl SysTick {
    pub fn new() -> SysTick {
        SysTick {
            control: 0,
            reload: 0,
            value: 0,
            epoch: 0,
            count_flag: false,
            next_zero: NEVER,
        }
    }

    fn enabled(&self) -> bool {
        self.control & ENABLE != 0
    }

    fn cycles_per_count(&self) -> u64 {
        if self.control & CLKSOURCE != 0 {
            1
        } else {
            8
        }
    }

    /// Counts since `epoch`.
    fn counts(&self, now: u64) -> u64 {
        now.saturating_sub(self.epoch) / self.cycles_per_count()
    }

    fn value_at(&self, now: u64) -> u32 {
        let counts = self.counts(now);
        if !self.enabled() || counts == 0 {
            return self.value;
        }
        let value = u64::from(self.value);
        let reload = u64::from(self.reload);
        if counts <= value {
            (value - counts) as u32
        } else {
            (reload - (counts - value - 1) % (reload + 1)) as u32
        }
    }

    /// The cycle of the first zero after `now`. NEVER if the counter does not run. A zero that was
    /// written, or reloaded from a zero, does not count (B3.3.1).
    fn zero_after(&self, now: u64) -> u64 {
        let value = u64::from(self.value);
        let period = u64::from(self.reload) + 1;
        let seen = self.counts(now);
        let counts = if seen < value {
            value
        } else {
            value + ((seen - value) / period + 1) * period
        };
        let stops = self.reload == 0 && seen >= value;
        if stops || !self.enabled() {
            return NEVER;
        }
        self.epoch + counts * self.cycles_per_count()
    }

    /// The cycle in which the counter next pends its exception.
    #[inline(always)]
    pub fn next_expiry(&self) -> Option<u64> {
        (self.control & TICKINT != 0 && self.next_zero != NEVER).then_some(self.next_zero)
    }

    /// Handles the zeros up to `now`. True if the exception must be pended.
    #[inline(always)]
    pub fn sync(&mut self, now: u64) -> bool {
        now >= self.next_zero && self.reach_zero(now)
    }

    fn reach_zero(&mut self, now: u64) -> bool {
        self.next_zero = self.zero_after(now);
        self.count_flag = true;
        self.control & TICKINT != 0
    }

    /// Starts a new epoch at `now`, so that the registers may change.
    fn rebase(&mut self, now: u64) {
        let value = self.value_at(now);
        self.epoch = if self.enabled() {
            self.epoch + self.counts(now) * self.cycles_per_count()
        } else {
            now
        };
        self.value = value;
    }

    /// Call [`SysTick::sync`] first.
    pub fn read(&mut self, offset: u32, now: u64) -> u32 {
        match offset {
            0x0 => {
                let flag = if self.count_flag { COUNTFLAG } else { 0 };
                self.count_flag = false;
                self.control | flag
            }
            0x4 => self.reload,
            0x8 => self.value_at(now),
            _ => CALIBRATION,
        }
    }

    /// Call [`SysTick::sync`] first.
    pub fn write(&mut self, offset: u32, value: u32, now: u64) {
        self.rebase(now);
        match offset {
            0x0 => self.control = value & (ENABLE | TICKINT | CLKSOURCE),
            0x4 => self.reload = value & COUNTER_MASK,
            0x8 => {
                self.value = 0;
                self.count_flag = false;
            }
            _ => {}
        }
        self.next_zero = self.zero_after(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(reload: u32, control: u32) -> SysTick {
        let mut timer = SysTick::new();
        timer.write(0x4, reload, 0);
        timer.write(0x8, 0, 0);
        timer.write(0x0, control, 0);
        timer
    }

    /// The counter, clock by clock, as B3.3.1 describes it.
    fn stepped(reload: u32, clocks: u64) -> (u32, u64) {
        let (mut value, mut zeros) = (0, 0);
        for _ in 0..clocks {
            if value == 0 {
                value = reload;
            } else {
                value -= 1;
                zeros += (value == 0) as u64;
            }
        }
        (value, zeros)
    }

    #[test]
    fn closed_form_equals_counting() {
        for reload in [0, 1, 2, 7, 100] {
            for now in 0..450 {
                let timer = running(reload, 7);
                let (value, _) = stepped(reload, now);
                assert_eq!(timer.value_at(now), value, "reload {reload}, clock {now}");
            }
        }
    }

    #[test]
    fn a_zero_pends_once_however_often_someone_looks() {
        for reload in [0, 1, 2, 7, 100] {
            for step in [1, 3, 8, 64] {
                let mut timer = running(reload, 7);
                for now in (step..450).step_by(step as usize) {
                    let reached = stepped(reload, now).1 > stepped(reload, now - step).1;
                    assert_eq!(timer.sync(now), reached, "reload {reload}, clock {now}");
                }
            }
        }
    }

    #[test]
    fn without_a_reload_value_the_counter_stops_at_zero() {
        let mut timer = running(9, 7);
        timer.sync(4);
        timer.write(0x4, 0, 4);
        assert_eq!(timer.next_expiry(), Some(10));
        assert!(timer.sync(10) && !timer.sync(1_000));
        assert_eq!((timer.next_expiry(), timer.value_at(1_000)), (None, 0));
    }

    #[test]
    fn a_write_moves_the_next_zero() {
        let mut timer = running(9, 7);
        timer.sync(4);
        timer.write(0x8, 0, 4);
        assert_eq!(timer.next_expiry(), Some(14));
        timer.write(0x0, 6, 5);
        assert_eq!(timer.next_expiry(), None);
        timer.write(0x0, 7, 20);
        assert_eq!(timer.next_expiry(), Some(29), "value 9 was left");
    }

    #[test]
    fn the_next_expiry_is_the_first_cycle_that_pends() {
        for control in [7, 3] {
            let mut timer = running(9, control);
            for _ in 0..5 {
                let expiry = timer.next_expiry().unwrap();
                assert!(!timer.sync(expiry - 1));
                assert!(timer.sync(expiry));
            }
        }
    }

    #[test]
    fn reading_control_clears_the_count_flag() {
        let mut timer = running(9, 5);
        timer.sync(10);
        assert_eq!(timer.read(0, 10), 0x1_0005);
        assert_eq!(timer.read(0, 10), 5);
    }

    #[test]
    fn a_new_reload_value_waits_for_the_next_wrap() {
        let mut timer = running(9, 7);
        timer.sync(4);
        timer.write(0x4, 99, 4);
        assert_eq!(timer.value_at(10), 0);
        assert_eq!(timer.value_at(11), 99);
    }
}
