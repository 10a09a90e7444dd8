//! The samples before a board starts. The board stands still meanwhile, and a real analyzer would
//! take as many samples as the host needs to pull the reset. Here their number is always the same,
//! so that the reset is at the same sample in each run, however slow the host is.

use std::time::{Duration, Instant};

/// First the host gets samples of 10 ms at once, by which it sees that the analyzer runs. Of 10 ms
/// more it gets one sample at a time. The rest of them comes when the board starts.
const PART: u64 = 100; // of a second

/// libsigrok ends a capture after 64 empty transfers in a row. It has 32, of 400 ms each.
const TRICKLE_PERIOD: Duration = Duration::from_millis(250);

/// If the board does not start within this time, real time passes for the analyzer.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct LeadIn {
    since: Instant,
    trickled: Instant,
    /// Samples that are still to come before the start.
    left: u64,
    first: u64,
}

impl LeadIn {
    pub fn new(samplerate_hz: u64) -> LeadIn {
        let part = samplerate_hz / PART;
        LeadIn {
            since: Instant::now(),
            trickled: Instant::now(),
            left: 2 * part,
            first: part,
        }
    }

    /// How many samples the host gets now, while the board stands still.
    pub fn due(&mut self) -> u64 {
        let samples = if self.first > 0 {
            std::mem::take(&mut self.first)
        } else if self.trickled.elapsed() >= TRICKLE_PERIOD {
            1
        } else {
            return 0;
        };
        self.trickled = Instant::now();
        let samples = samples.min(self.left);
        self.left -= samples;
        samples
    }

    /// All that are left, at the board's start.
    pub fn rest(&mut self) -> u64 {
        std::mem::take(&mut self.left)
    }

    pub fn is_over(&self) -> bool {
        self.left == 0 || self.since.elapsed() >= PATIENCE
    }
}
