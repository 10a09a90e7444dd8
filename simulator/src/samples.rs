//! Edges to samples: what a logic analyzer with eight channels would have recorded, as runs of equal words.

use crate::edges::{channel_of, Edge};
use crate::timebase::Timebase;

/// Equal samples in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub samples: u64,
    /// Bit n is channel n.
    pub word: u8,
}

/// Turns edges into runs at one samplerate. An edge shows from the sample in which it falls; of several edges within
/// one sample the last level shows.
pub struct Sampler {
    samplerate_hz: u64,
    /// The next sample to hand out, counted from reset.
    next: u64,
    word: u8,
}

impl Sampler {
    /// Starts a capture at `cycle`, with the channels at `word`.
    pub fn new(samplerate_hz: u64, timebase: &Timebase, cycle: u64, word: u8) -> Sampler {
        Sampler {
            samplerate_hz,
            next: timebase.sample(cycle, samplerate_hz),
            word,
        }
    }

    /// The runs up to the sample of cycle `until`, given all edges since the last call in order.
    pub fn runs(&mut self, edges: &[Edge], until: u64, timebase: &Timebase) -> Vec<Run> {
        let mut runs = Vec::new();
        for edge in edges {
            let Some(channel) = channel_of(edge.pin) else {
                continue;
            };
            self.emit(timebase.sample(edge.cycle, self.samplerate_hz), &mut runs);
            let bit = 1 << channel;
            self.word = if edge.level {
                self.word | bit
            } else {
                self.word & !bit
            };
        }
        self.emit(timebase.sample(until, self.samplerate_hz), &mut runs);
        runs
    }

    fn emit(&mut self, until: u64, runs: &mut Vec<Run>) {
        if until > self.next {
            runs.push(Run {
                samples: until - self.next,
                word: self.word,
            });
            self.next = until;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::CHANNELS;
    use crate::peripherals::rcc::Frequency;

    fn edge(cycle: u64, channel: usize, level: bool) -> Edge {
        Edge {
            cycle,
            pin: CHANNELS[channel],
            level,
            output: true,
        }
    }

    fn run(samples: u64, word: u8) -> Run {
        Run { samples, word }
    }

    #[test]
    fn one_cycle_one_sample() {
        let timebase = Timebase::new(Frequency::hz(16_000_000));
        let mut sampler = Sampler::new(16_000_000, &timebase, 0, 0x80);
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
        let mut sampler = Sampler::new(1_000_000, &timebase, 0, 0);
        let edges = [edge(17, 2, true), edge(20, 2, false), edge(40, 3, true)];
        assert_eq!(
            sampler.runs(&edges, 64, &timebase),
            [run(1, 0), run(1, 0), run(2, 8)]
        );
    }

    #[test]
    fn an_edge_beyond_the_horizon_counts_once() {
        let timebase = Timebase::new(Frequency::hz(16_000_000));
        let mut sampler = Sampler::new(16_000_000, &timebase, 0, 0);
        assert_eq!(
            sampler.runs(&[edge(12, 0, true)], 10, &timebase),
            [run(12, 0)]
        );
        assert_eq!(sampler.runs(&[], 14, &timebase), [run(2, 1)]);
    }
}
