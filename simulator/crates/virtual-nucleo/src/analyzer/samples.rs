//! Turns edges into the samples of a logic analyzer, as runs of equal words.

use super::clips::Inputs;
use stm32::edges::Edge;
use stm32::timebase::{Seconds, Timebase};

/// Equal samples in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub samples: u64,
    /// Bit n is input n.
    pub word: u16,
}

/// Turns edges into runs at one samplerate. An edge shows from its own sample on. Of several edges
/// within one sample, the last level shows.
pub struct Sampler {
    samplerate_hz: u64,
    /// When the grid of samples begins.
    origin: Seconds,
    /// Samples that were handed out while time stood still.
    extra: u64,
    /// The next sample to hand out, counted from the origin.
    next: u64,
    inputs: Inputs,
}

impl Sampler {
    /// Starts a capture at `cycle`, on a grid that begins with power-up.
    pub fn new(samplerate_hz: u64, timebase: &Timebase, cycle: u64, inputs: Inputs) -> Sampler {
        Sampler {
            samplerate_hz,
            origin: Seconds::ZERO,
            extra: 0,
            next: timebase.sample(cycle, samplerate_hz),
            inputs,
        }
    }

    /// Starts a capture at `cycle`, on a grid that begins there.
    pub fn beginning(
        samplerate_hz: u64,
        timebase: &Timebase,
        cycle: u64,
        inputs: Inputs,
    ) -> Sampler {
        Sampler {
            samplerate_hz,
            origin: timebase.seconds(cycle),
            extra: 0,
            next: 0,
            inputs,
        }
    }

    /// `samples` more with the present levels, while time stands still.
    pub fn stand_still(&mut self, samples: u64) -> Run {
        self.extra += samples;
        self.next += samples;
        Run {
            samples,
            word: self.inputs.word(),
        }
    }

    /// The runs up to the sample of cycle `until`. `edges` are all edges since the last call, in
    /// order.
    pub fn runs(&mut self, edges: &[Edge], until: u64, timebase: &Timebase) -> Vec<Run> {
        let mut runs = Vec::new();
        for edge in edges {
            let word = self.inputs.word();
            if self.inputs.see(edge) {
                self.emit(self.sample(edge.cycle, timebase), word, &mut runs);
            }
        }
        self.emit(self.sample(until, timebase), self.inputs.word(), &mut runs);
        runs
    }

    fn sample(&self, cycle: u64, timebase: &Timebase) -> u64 {
        timebase.sample_since(self.origin, cycle, self.samplerate_hz) + self.extra
    }

    fn emit(&mut self, until: u64, word: u16, runs: &mut Vec<Run>) {
        if until > self.next {
            runs.push(Run {
                samples: until - self.next,
                word,
            });
            self.next = until;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::clips::Clips;
    use super::*;
    use stm32::edges::CHANNELS;
    use stm32::timebase::Frequency;

    fn edge(cycle: u64, channel: usize, level: bool) -> Edge {
        Edge {
            cycle,
            pin: CHANNELS[channel],
            level,
            output: true,
        }
    }

    /// The default clips, with the channels of `word` high.
    fn inputs(word: u16) -> Inputs {
        let high = |pin| CHANNELS.iter().position(|channel| *channel == pin);
        Inputs::new(&Clips::default(), |pin| {
            high(pin).is_some_and(|channel| word >> channel & 1 != 0)
        })
    }

    fn run(samples: u64, word: u16) -> Run {
        Run { samples, word }
    }

    #[test]
    fn one_cycle_one_sample() {
        let timebase = Timebase::new(Frequency::hz(16_000_000));
        let mut sampler = Sampler::new(16_000_000, &timebase, 0, inputs(0x80));
        let edges = [edge(3, 0, true), edge(4, 7, false), edge(4, 1, true)];
        assert_eq!(
            sampler.runs(&edges, 10, &timebase),
            [run(3, 0x80), run(1, 0x81), run(6, 0x03)]
        );
        assert_eq!(sampler.runs(&[], 12, &timebase), [run(2, 0x03)]);
    }

    #[test]
    fn a_pulse_within_a_sample_is_not_seen() {
        let timebase = Timebase::new(Frequency::hz(16_000_000));
        let mut sampler = Sampler::new(1_000_000, &timebase, 0, inputs(0));
        let edges = [edge(17, 2, true), edge(20, 2, false), edge(40, 3, true)];
        assert_eq!(
            sampler.runs(&edges, 64, &timebase),
            [run(1, 0), run(1, 0), run(2, 8)]
        );
    }

    #[test]
    fn a_grid_that_begins_later_is_the_same_from_there() {
        let timebase = Timebase::new(Frequency::hz(84_000_000));
        let from = |cycle: u64| {
            let mut sampler = Sampler::beginning(24_000_000, &timebase, cycle, inputs(0));
            let lead_in = sampler.stand_still(100);
            let edges = [edge(cycle + 10, 0, true), edge(cycle + 14, 0, false)];
            (lead_in, sampler.runs(&edges, cycle + 35, &timebase))
        };
        // 3.5 cycles a sample: 10 cycles are 2.86 samples, 14 are 4.
        assert_eq!(
            from(0),
            (run(100, 0), vec![run(2, 0), run(2, 1), run(6, 0)])
        );
        assert_eq!(from(5), from(0));
    }

    #[test]
    fn an_edge_beyond_the_horizon_counts_once() {
        let timebase = Timebase::new(Frequency::hz(16_000_000));
        let mut sampler = Sampler::new(16_000_000, &timebase, 0, inputs(0));
        assert_eq!(
            sampler.runs(&[edge(12, 0, true)], 10, &timebase),
            [run(12, 0)]
        );
        assert_eq!(sampler.runs(&[], 14, &timebase), [run(2, 1)]);
    }
}
