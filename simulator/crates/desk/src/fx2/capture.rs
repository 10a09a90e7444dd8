//! Samples on their way to the host.

use crate::faults::{Clock, Fault, Faults};
use crate::usb;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};
use virtual_nucleo::analyzer::samples::Run;
use virtual_nucleo::analyzer::stream::{gather, Unit};

/// A transfer that is not full ends after this long with what there is. sigrok gives up after 64
/// empty ones, of which each takes 400 ms.
const PATIENCE: Duration = Duration::from_millis(100);

pub struct Capture {
    arrivals: Receiver<Vec<Run>>,
    unit: Unit,
    faults: Faults,
    /// What has arrived and is not in `gathered` yet, the next run last.
    runs: Vec<Run>,
    gathered: Vec<u8>,
    /// When the first byte of `gathered` came.
    since: Instant,
    /// Samples that have left, or lie in `gathered`.
    position: u64,
    to_lose: u64,
    /// The bit whose next edge rings.
    rings: Option<u16>,
    /// The word before the next run.
    before: u16,
    /// The ground clip is off: samples of noise that are still to come. Then all inputs are low.
    afloat: Option<u64>,
    ended: bool,
    stalled: Option<usb::Fault>,
}

/// The endpoint has four buffers of 512 bytes (fx2lafw, EP2CFG). The firmware ends a capture that
/// overflows them.
const BUFFERED_BYTES: u64 = 4 * 512;
/// How often an edge that rings goes back and forth, a sample each.
const RINGS: usize = 3;
/// For how long inputs without a ground pick up noise, and in steps of how many samples.
const NOISE_SAMPLES: u64 = 24_000;
const NOISE_STEP: u64 = 5;

impl Capture {
    pub fn new(arrivals: Receiver<Vec<Run>>, unit: Unit, faults: Faults) -> Capture {
        Capture {
            arrivals,
            unit,
            faults,
            runs: Vec::new(),
            gathered: Vec::new(),
            since: Instant::now(),
            position: 0,
            to_lose: 0,
            rings: None,
            before: 0,
            afloat: None,
            ended: false,
            stalled: None,
        }
    }

    /// What the next transfer carries, at most `most` bytes. None: it must wait.
    pub fn transfer(&mut self, most: usize) -> Result<Option<Vec<u8>>, usb::Fault> {
        if let Some(fault) = self.stalled {
            return Err(fault);
        }
        let most = most - most % self.unit.bytes();
        while !self.ended && self.gathered.len() < most {
            if let Some((fault, _)) = self.faults.take_due(Clock::Analyzer, self.position) {
                if let Some(outcome) = self.suffer(fault, most) {
                    return outcome;
                }
                continue;
            }
            let next = self.faults.next_at(Clock::Analyzer);
            let room = ((most - self.gathered.len()) / self.unit.bytes()) as u64;
            let limit = next.map_or(room, |at| room.min(at.saturating_sub(self.position)));
            if !self.gather(limit) {
                break;
            }
        }
        let full = self.gathered.len() >= most;
        let due = !self.gathered.is_empty() && self.since.elapsed() >= PATIENCE;
        Ok((full || due).then(|| self.hand_over(most)))
    }

    /// What is gathered, of which a transfer before this one may have waited for more.
    fn hand_over(&mut self, most: usize) -> Vec<u8> {
        let rest = self.gathered.split_off(most.min(self.gathered.len()));
        std::mem::replace(&mut self.gathered, rest)
    }

    /// Takes up to `limit` samples of what has arrived. False if nothing has.
    fn gather(&mut self, limit: u64) -> bool {
        let Some(run) = self.next_run() else {
            return false;
        };
        let samples = run.samples.min(limit);
        let word = run.word;
        run.samples -= samples;
        self.before = word;
        if self.gathered.is_empty() {
            self.since = Instant::now();
        }
        let bytes = samples as usize * self.unit.bytes();
        gather(&mut self.gathered, self.unit, word, bytes);
        self.position += samples;
        true
    }

    /// The run that comes next. None if nothing has arrived.
    fn next_run(&mut self) -> Option<&mut Run> {
        loop {
            while let Some(run) = self.runs.last_mut() {
                let lost = run.samples.min(self.to_lose);
                run.samples -= lost;
                self.to_lose -= lost;
                if run.samples > 0 {
                    break;
                }
                self.runs.pop();
            }
            if !self.runs.is_empty() {
                self.disturb();
                return self.runs.last_mut();
            }
            let arrived = self.arrivals.try_recv().ok()?;
            self.runs = arrived;
            self.runs.reverse();
        }
    }

    /// Changes the run that comes next as a bad clip does.
    fn disturb(&mut self) {
        let Some(run) = self.runs.last().copied() else {
            return;
        };
        if let Some(left) = self.afloat {
            self.float(run, left);
        } else if let Some(bit) = self.rings.filter(|bit| (run.word ^ self.before) & bit != 0) {
            self.ring(run, bit);
        }
    }

    /// The level goes back and forth before it stays, as long as the run has samples for it.
    fn ring(&mut self, run: Run, bit: u16) {
        self.rings = None;
        let swings = RINGS.min((run.samples.saturating_sub(1) / 2) as usize);
        self.runs.pop();
        self.runs.push(Run {
            samples: run.samples - 2 * swings as u64,
            word: run.word,
        });
        for _ in 0..swings {
            for word in [run.word ^ bit, run.word] {
                self.runs.push(Run { samples: 1, word });
            }
        }
    }

    fn float(&mut self, run: Run, left: u64) {
        let samples = match left {
            0 => run.samples,
            _ => run.samples.min(NOISE_STEP).min(left),
        };
        // The same noise each time.
        let word = match left {
            0 => 0,
            _ => (left as u32).wrapping_mul(0x9E37_79B9) as u16 ^ (left >> 3) as u16,
        };
        self.afloat = Some(left - samples.min(left));
        self.runs.pop();
        if run.samples > samples {
            self.runs.push(Run {
                samples: run.samples - samples,
                word: run.word,
            });
        }
        self.runs.push(Run { samples, word });
    }

    /// Lets a fault happen. Some: the transfer ends with it.
    fn suffer(&mut self, fault: Fault, most: usize) -> Option<Result<Option<Vec<u8>>, usb::Fault>> {
        match fault {
            Fault::Stop => self.ended = true,
            Fault::Fail(fault) => {
                self.stalled = Some(fault);
                return Some(Err(fault));
            }
            Fault::Unplug(back_as) => {
                self.gathered.clear();
                self.ended = true;
                self.faults.unplug("analyzer", back_as);
            }
            Fault::Short => return Some(Ok(Some(self.hand_over(most)))),
            Fault::Lose(samples) => self.to_lose = self.to_lose.saturating_add(samples),
            Fault::Hub(samples) => {
                let room = BUFFERED_BYTES / self.unit.bytes() as u64;
                if samples > room {
                    let full = self.position + room;
                    self.faults.add(Clock::Analyzer, Fault::Stop, full);
                }
            }
            Fault::Ring(input) => self.rings = Some(1 << input),
            Fault::Ground => self.afloat = Some(NOISE_SAMPLES),
            _ => {} // of another device
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// Samples 0, 1, 2 … as runs of one.
    fn counted(samples: u16, unit: Unit, faults: &Faults) -> Capture {
        let (sender, arrivals) = mpsc::sync_channel(1);
        let runs = (0..samples).map(|word| Run { samples: 1, word }).collect();
        sender.send(runs).unwrap();
        Capture::new(arrivals, unit, faults.clone())
    }

    #[test]
    fn full_transfers_leave_at_once_and_the_rest_waits() {
        let mut capture = counted(10, Unit::Eight, &Faults::new(mpsc::channel().0));
        assert_eq!(capture.transfer(4), Ok(Some(vec![0, 1, 2, 3])));
        assert_eq!(capture.transfer(4), Ok(Some(vec![4, 5, 6, 7])));
        assert_eq!(capture.transfer(4), Ok(None));
        std::thread::sleep(PATIENCE);
        assert_eq!(capture.transfer(4), Ok(Some(vec![8, 9])));
        assert_eq!(capture.transfer(4), Ok(None));
    }

    #[test]
    fn wide_samples_have_two_bytes_and_are_never_split() {
        let mut capture = counted(0x102, Unit::Sixteen, &Faults::new(mpsc::channel().0));
        capture.transfer(0x1FF).unwrap();
        assert_eq!(capture.transfer(5), Ok(Some(vec![0xFF, 0, 0x00, 1])));
    }

    fn bytes_of(runs: Vec<Run>, line: &str) -> Vec<u8> {
        let (sender, arrivals) = mpsc::sync_channel(1);
        let samples: u64 = runs.iter().map(|run| run.samples).sum();
        sender.send(runs).unwrap();
        let faults = Faults::new(mpsc::channel().0);
        faults.plan(&format!("analyzer {line}")).unwrap();
        let mut capture = Capture::new(arrivals, Unit::Eight, faults);
        capture.transfer(samples as usize).unwrap().unwrap()
    }

    #[test]
    fn a_hub_that_stalls_for_longer_than_the_buffers_hold_ends_the_capture() {
        let faults = Faults::new(mpsc::channel().0);
        faults.plan("analyzer hub 2049 at 100").unwrap();
        let mut capture = counted(9000, Unit::Eight, &faults);
        assert_eq!(capture.transfer(2000).unwrap().unwrap().len(), 2000);
        assert_eq!(capture.transfer(2000), Ok(None));
        std::thread::sleep(PATIENCE);
        assert_eq!(capture.transfer(2000).unwrap().unwrap().len(), 148);
        assert_eq!(capture.transfer(2000), Ok(None));
    }

    #[test]
    fn an_edge_rings_once_on_one_input() {
        let run = |samples, word| Run { samples, word };
        let runs = || vec![run(4, 0), run(9, 3), run(3, 0)];
        assert_eq!(
            bytes_of(runs(), "ring D1 at 2"),
            [0, 0, 0, 0, 3, 1, 3, 1, 3, 1, 3, 3, 3, 0, 0, 0]
        );
        assert_eq!(bytes_of(runs(), "ring D1 at 5")[13..], [0, 2, 0]);
    }

    #[test]
    fn without_a_ground_all_inputs_are_noise_and_then_low() {
        let runs = vec![Run {
            samples: 30_000,
            word: 0xFF,
        }];
        let bytes = bytes_of(runs, "ground at 1000");
        assert_eq!(bytes.len(), 30_000);
        assert!(bytes[..1000].iter().all(|&byte| byte == 0xFF));
        let noise: std::collections::BTreeSet<_> = bytes[1000..25_000].iter().collect();
        assert!(noise.len() > 100);
        assert!(bytes[25_000..].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn faults_happen_at_their_sample() {
        let outcome = |line: &str| {
            let faults = Faults::new(mpsc::channel().0);
            faults.plan(&format!("analyzer {line}")).unwrap();
            let mut capture = counted(8, Unit::Eight, &faults);
            [capture.transfer(4), capture.transfer(4)]
        };
        let first = Ok(Some(vec![0, 1, 2, 3]));
        assert_eq!(outcome("stop at 4"), [first.clone(), Ok(None)]);
        assert_eq!(
            outcome("stall at 4"),
            [first.clone(), Err(usb::Fault::Stall)]
        );
        assert_eq!(
            outcome("error at 2"),
            [Err(usb::Fault::Protocol), Err(usb::Fault::Protocol)]
        );
        assert_eq!(outcome("short at 6"), [first.clone(), Ok(Some(vec![4, 5]))]);
        // The buffers bridge a short pause of the hub.
        assert_eq!(outcome("hub 2048 at 4"), outcome("none"));
        assert_eq!(
            outcome("lose 2 at 1"),
            [Ok(Some(vec![0, 3, 4, 5])), Ok(None)]
        );
    }
}
