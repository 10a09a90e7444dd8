//! Samples on their way to the host.

use super::faults::{Faults, Trouble};
use crate::samples::Run;
use crate::stream::{gather, Unit};
use crate::usb::Fault;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

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
    ended: bool,
    stalled: Option<Fault>,
}

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
            ended: false,
            stalled: None,
        }
    }

    /// What the next transfer carries, at most `most` bytes. None: it must wait.
    pub fn transfer(&mut self, most: usize) -> Result<Option<Vec<u8>>, Fault> {
        if let Some(fault) = self.stalled {
            return Err(fault);
        }
        let most = most - most % self.unit.bytes();
        while !self.ended && self.gathered.len() < most {
            let trouble = self.faults.next_at();
            if trouble.is_some_and(|(_, at)| at <= self.position) {
                if let Some(outcome) = self.suffer() {
                    return outcome;
                }
                continue;
            }
            let room = ((most - self.gathered.len()) / self.unit.bytes()) as u64;
            let limit = trouble.map_or(room, |(_, at)| room.min(at - self.position));
            if !self.gather(limit) {
                break;
            }
        }
        let full = self.gathered.len() >= most;
        let due = !self.gathered.is_empty() && self.since.elapsed() >= PATIENCE;
        Ok((full || due).then(|| std::mem::take(&mut self.gathered)))
    }

    /// Takes up to `limit` samples of what has arrived. False if nothing has.
    fn gather(&mut self, limit: u64) -> bool {
        let Some(run) = self.next_run() else {
            return false;
        };
        let samples = run.samples.min(limit);
        let word = run.word;
        run.samples -= samples;
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
                return self.runs.last_mut();
            }
            self.runs = self.arrivals.try_recv().ok()?;
            self.runs.reverse();
        }
    }

    /// Lets the fault happen that is due. Some: the transfer ends with it.
    fn suffer(&mut self) -> Option<Result<Option<Vec<u8>>, Fault>> {
        match self.faults.take_next()? {
            Trouble::Stop => self.ended = true,
            Trouble::Fail(fault) => {
                self.stalled = Some(fault);
                return Some(Err(fault));
            }
            Trouble::Unplug => {
                self.gathered.clear();
                self.ended = true;
                self.faults.unplug();
            }
            Trouble::Short => return Some(Ok(Some(std::mem::take(&mut self.gathered)))),
            Trouble::Lose(samples) => self.to_lose += samples,
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
        let mut capture = counted(10, Unit::Eight, &Faults::default());
        assert_eq!(capture.transfer(4), Ok(Some(vec![0, 1, 2, 3])));
        assert_eq!(capture.transfer(4), Ok(Some(vec![4, 5, 6, 7])));
        assert_eq!(capture.transfer(4), Ok(None));
        std::thread::sleep(PATIENCE);
        assert_eq!(capture.transfer(4), Ok(Some(vec![8, 9])));
        assert_eq!(capture.transfer(4), Ok(None));
    }

    #[test]
    fn wide_samples_have_two_bytes_and_are_never_split() {
        let mut capture = counted(0x102, Unit::Sixteen, &Faults::default());
        capture.transfer(0x1FF).unwrap();
        assert_eq!(capture.transfer(5), Ok(Some(vec![0xFF, 0, 0x00, 1])));
    }

    #[test]
    fn faults_happen_at_their_sample() {
        let outcome = |line: &str| {
            let faults = Faults::default();
            faults.plan(line).unwrap();
            let mut capture = counted(8, Unit::Eight, &faults);
            [capture.transfer(4), capture.transfer(4)]
        };
        let first = Ok(Some(vec![0, 1, 2, 3]));
        assert_eq!(outcome("stop at 4"), [first.clone(), Ok(None)]);
        assert_eq!(outcome("stall at 4"), [first.clone(), Err(Fault::Stall)]);
        assert_eq!(
            outcome("error at 2"),
            [Err(Fault::Protocol), Err(Fault::Protocol)]
        );
        assert_eq!(outcome("short at 6"), [first.clone(), Ok(Some(vec![4, 5]))]);
        assert_eq!(
            outcome("lose 2 at 1"),
            [Ok(Some(vec![0, 3, 4, 5])), Ok(None)]
        );
    }
}
