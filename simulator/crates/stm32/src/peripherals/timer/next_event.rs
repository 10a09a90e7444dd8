//! What the counter does next: when it matches or overflows, and when others can see that.

use super::{Timer, ARR, BY_UPDATE, CCER, CCR1, CR1, DIER, OPM, PSC, SR, UDIS, UIF};

impl Timer {
    /// The core cycle by which the timer must be advanced, because an output or the interrupt may
    /// change.
    pub(super) fn next_visible_event(&self) -> Option<u64> {
        let divider = self.divider?;
        let channels = self.watched_channels();
        if !self.counting() || (channels == 0 && !self.update_shows()) {
            return None;
        }
        let steps = self.steps_to_change(channels);
        let mut ticks = steps * self.prescaler - self.prescale_count;
        if steps == self.steps_to_overflow() && !self.overflow_shows(channels) {
            if self.registers.has(CR1, OPM) && self.repetitions == 0 {
                return None;
            }
            ticks += self.ticks_from_overflow_to_match(channels);
        }
        Some((self.tick + ticks) * divider)
    }

    /// A register that has just been read gives the same value before this cycle. Matches and
    /// overflows change flags, and an overflow stops a one-pulse timer.
    pub fn reads_steadily_until(&self, offset: u32) -> Option<u64> {
        let foreseen = self.change_tick > self.tick && matches!(offset, CR1 | SR);
        Some(self.change_tick * self.divider.filter(|_| foreseen)?)
    }

    /// Call after each change, other than of time, that may move the next match or overflow.
    pub(super) fn update_change_tick(&mut self) {
        self.change_tick = if self.counting() {
            self.tick + self.next_change().1
        } else {
            0
        };
    }

    /// Counter steps to the next match or overflow, and the timer clocks that they take.
    pub(super) fn next_change(&self) -> (u64, u64) {
        let steps = self.steps_to_change(self.driving());
        (steps, steps * self.prescaler - self.prescale_count)
    }

    /// Counter steps to the overflow, or to an earlier match of one of `channels` (bit n is channel
    /// n).
    fn steps_to_change(&self, channels: u32) -> u64 {
        let to_top = self.top() - self.count;
        let steps_before = (0..4)
            .filter(|n| channels >> n & 1 != 0)
            // A compare value that has been passed wraps to beyond the top.
            .map(|n| {
                self.channels[n]
                    .compare
                    .wrapping_sub(self.count)
                    .wrapping_sub(1)
            })
            .fold(to_top, u32::min);
        u64::from(steps_before) + 1
    }

    pub(super) fn steps_to_overflow(&self) -> u64 {
        u64::from(self.top() - self.count) + 1
    }

    /// The last value before the counter returns to 0: ARR, or the end of its range if ARR was
    /// moved below the counter.
    fn top(&self) -> u32 {
        if self.count <= self.reload {
            self.reload
        } else {
            self.counter_max
        }
    }

    /// Whether the next overflow itself, not only a match after it, may change what others see of
    /// `channels`.
    fn overflow_shows(&self, channels: u32) -> bool {
        let shows = |n: usize| {
            channels >> n & 1 != 0
                && (self.compare_after_update(n) == 0 || self.channels[n].compare > self.reload)
        };
        self.update_shows() || self.acts_at_all_times() || (0..4).any(shows)
    }

    /// Timer clocks from the next overflow to the first match of one of `channels`. 0 if the
    /// overflow after that comes first.
    fn ticks_from_overflow_to_match(&self, channels: u32) -> u64 {
        let (reload, prescaler) = if self.updates_at_overflow() {
            let prescaler = u64::from(self.registers.get(PSC)) + 1;
            (self.registers.get(ARR), prescaler)
        } else {
            (self.reload, self.prescaler)
        };
        let steps = (0..4)
            .filter(|n| channels >> n & 1 != 0)
            .map(|n| self.compare_after_update(n))
            .filter(|compare| *compare <= reload)
            .min();
        steps.map_or(0, |steps| u64::from(steps) * prescaler)
    }

    /// The compare value in force after the next overflow.
    fn compare_after_update(&self, channel: usize) -> u32 {
        if self.updates_at_overflow() {
            self.registers.get(CCR1 + 4 * channel as u32)
        } else {
            self.channels[channel].compare
        }
    }

    /// Whether the next overflow brings preloaded values into force.
    fn updates_at_overflow(&self) -> bool {
        !self.registers.has(CR1, UDIS) && self.repetitions == 0
    }

    /// Whether others see an update event itself: its interrupt, or the trigger output.
    fn update_shows(&self) -> bool {
        self.registers.has(DIER, UIF) && !self.registers.has(SR, UIF) || self.trigger() == BY_UPDATE
    }

    /// The channels whose matches others can see. Bit n is channel n.
    fn watched_channels(&self) -> u32 {
        let enables = self.registers.get(CCER);
        let interrupts = self.registers.get(DIER) & !self.registers.get(SR);
        (0..4)
            .filter(|&n| {
                let shown = enables >> (4 * n) & 1 != 0 || interrupts & Self::flag(n) != 0;
                shown || self.trigger_channel() == Some(n)
            })
            .fold(0, |channels, n| channels | 1 << n)
            & self.driving()
    }

    /// The channels that are outputs. Bit n is channel n.
    fn driving(&self) -> u32 {
        (0..4).fold(0, |channels, n| channels | u32::from(self.drives(n)) << n)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Peripheral;
    use super::super::tests::{running, TOGGLE};
    use super::super::{ARPE, CCMR1, CCR4, CEN, CNT, EGR};
    use super::*;
    use crate::random::Random;

    #[test]
    fn what_can_be_seen_changes_at_announced_events_only() {
        // Compares with a timer that is advanced in every cycle.
        let registers = [CR1, DIER, SR, CCMR1, CCER, CNT, PSC, ARR, CCR1, 0x38];
        let mut random = Random(1);
        let mut changes = 0;
        for _ in 0..2_000 {
            let values = [
                (CCMR1, (TOGGLE << 8) | TOGGLE),
                (CCER, random.below(2) | 0x10),
            ];
            let mut timer = running(5 + random.below(20), &values);
            for _ in 0..6 {
                let (offset, value) = (registers[random.below(10) as usize], random.below(40));
                timer.write(offset, value, 0).unwrap_or_default();
            }
            timer.write(DIER, random.below(8), 0).unwrap();
            timer
                .write(CR1, CEN | random.below(16) | (random.below(2) * ARPE), 0)
                .unwrap();
            let mut watched = timer.clone();
            for now in 1..400 {
                let before = (watched.outputs(), watched.interrupt());
                watched.advance(now);
                let seen = (watched.outputs(), watched.interrupt());
                while timer.next_event().is_some_and(|event| event <= now) {
                    timer.advance(now);
                }
                assert_eq!((timer.outputs(), timer.interrupt()), seen, "cycle {now}");
                changes += u32::from(before != seen);
            }
        }
        assert!(changes > 2_000, "{changes}");
    }

    #[test]
    fn what_is_foreseen_is_what_counting_meets() {
        // Compares with a timer that does not use `change_tick`, and so looks at every channel each
        // time.
        let registers = [
            CR1, DIER, SR, EGR, CCMR1, CCER, CNT, PSC, ARR, CCR1, 0x38, CCR4,
        ];
        let mut random = Random(1);
        for _ in 0..50 {
            let (mut timer, mut now) = (running(20, &[]), 0);
            let mut plain = timer.clone();
            for _ in 0..200 {
                now += u64::from(random.below(30));
                plain.change_tick = 0;
                if random.below(40) == 0 {
                    timer.reset();
                    plain.reset();
                } else if random.below(4) == 0 {
                    let divider = [None, Some(1), Some(4)][random.below(3) as usize];
                    timer.set_divider(divider, now);
                    plain.set_divider(divider, now);
                } else if random.below(3) == 0 {
                    let (offset, value) = (registers[random.below(12) as usize], random.below(40));
                    assert_eq!(
                        timer.write(offset, value, now),
                        plain.write(offset, value, now)
                    );
                }
                plain.change_tick = 0;
                for offset in registers {
                    assert_eq!(timer.read(offset, now), plain.read(offset, now));
                }
                assert_eq!(timer.outputs(), plain.outputs());
                assert_eq!(timer.next_event(), plain.next_event());
            }
        }
    }
}
