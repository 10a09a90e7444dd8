//! What befalls the board while it is captured, to inject. Each happens once, at a sample of the
//! capture that is under way, or of the next one.

use machine::{Limit, Machine};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stm32::timebase::Seconds;

/// Where the core jumps to take a fault: nothing answers there (RM0368 §2.3, figure 3).
const NOWHERE: u32 = 0x6000_0000;
/// An instruction comes next within so many steps, if the core is awake.
const MOST_STEPS: usize = 1000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// The code at the PC becomes an endless loop.
    Hang,
    /// The core jumps to where no memory is.
    Fault,
    /// A reset, as by the pin. Some: again after so many samples.
    Reset(Option<u64>),
    /// A reset, as by a supply that dips.
    BrownOut,
    /// A debugger that leaves stops DWT's counters.
    TraceOff,
    /// The probe is unplugged. Some: it comes back, with its serial port under this name.
    ProbeGone(Option<String>),
}

/// Clones share the same plan.
#[derive(Clone, Default)]
pub struct Mishaps {
    planned: Arc<Mutex<Vec<(Mishap, u64)>>>,
}

impl Mishaps {
    /// Plans what a line says: `hang at N`, `fault at N`, `reset at N`, `reset every K at N`,
    /// `brown-out at N`, `trace off at N`, or `none`, which forgets all.
    pub fn plan(&self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let number = |word: &str| word.parse::<u64>().map_err(|_| unknown(line));
        let (mishap, at) = match words[..] {
            ["none"] => {
                self.planned().clear();
                return Ok(());
            }
            ["hang", "at", at] => (Mishap::Hang, at),
            ["fault", "at", at] => (Mishap::Fault, at),
            ["reset", "at", at] => (Mishap::Reset(None), at),
            ["brown-out", "at", at] => (Mishap::BrownOut, at),
            ["trace", "off", "at", at] => (Mishap::TraceOff, at),
            ["reset", "every", period, "at", at] => {
                (Mishap::Reset(Some(number(period)?.max(1))), at)
            }
            _ => return Err(unknown(line)),
        };
        self.add(mishap, number(at)?);
        Ok(())
    }

    pub fn add(&self, mishap: Mishap, at: u64) {
        let mut planned = self.planned();
        planned.push((mishap, at));
        planned.sort_by_key(|(_, at)| *at);
    }

    pub fn next_at(&self) -> Option<u64> {
        self.planned().first().map(|(_, at)| *at)
    }

    pub fn take_next(&self) -> Option<(Mishap, u64)> {
        let mut planned = self.planned();
        (!planned.is_empty()).then(|| planned.remove(0))
    }

    fn planned(&self) -> MutexGuard<'_, Vec<(Mishap, u64)>> {
        self.planned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unknown(line: &str) -> String {
    format!(
        "{line:?} is no mishap of the board: write hang, fault, reset or brown-out at SAMPLE, \
         reset every COUNT at SAMPLE, trace off at SAMPLE, crystal PPM, power cycle, or none"
    )
}

/// Simulated time of a capture in samples.
#[derive(Clone, Copy)]
pub struct SampleClock {
    pub samplerate_hz: u64,
    /// When the board began to run, and which sample that was.
    pub since: Seconds,
    pub first: u64,
}

impl SampleClock {
    /// The moment of a sample.
    pub fn limit(&self, sample: u64) -> Limit {
        Limit::Time(
            self.since
                .later_by(sample.saturating_sub(self.first), self.samplerate_hz),
        )
    }
}

/// Sends the core astray. False while it handles an exception's entry, or sleeps.
pub fn derail(machine: &mut Machine, mishap: &Mishap) -> bool {
    for _ in 0..MOST_STEPS {
        if machine.core().about_to_execute() {
            match mishap {
                Mishap::Hang => machine.loop_for_ever(),
                _ => machine.core_mut().go_astray(NOWHERE),
            }
            return true;
        }
        let next = machine.cycles() + 1;
        if machine.core().asleep() || machine.run_one(next).is_err() {
            break;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mishaps_are_due_in_the_order_of_their_samples() {
        let mishaps = Mishaps::default();
        for line in ["reset every 7 at 30", "hang at 10"] {
            mishaps.plan(line).unwrap();
        }
        assert_eq!(mishaps.next_at(), Some(10));
        assert_eq!(mishaps.take_next(), Some((Mishap::Hang, 10)));
        assert_eq!(mishaps.take_next(), Some((Mishap::Reset(Some(7)), 30)));
        assert_eq!(mishaps.take_next(), None);
    }

    #[test]
    fn other_words_are_refused() {
        for line in ["", "hang", "hang at x", "reset every at 3", "melt at 3"] {
            assert!(Mishaps::default().plan(line).is_err(), "{line:?}");
        }
    }
}
