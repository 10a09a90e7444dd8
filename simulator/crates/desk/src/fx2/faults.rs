//! Faults of the analyzer, to inject. Each happens once, at a sample of the capture that is under
//! way, or of the next one.

use crate::clips::MOST_INPUTS;
use crate::usb::Fault;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What fx2lafw of today says of itself: major, minor.
const VERSION: [u8; 2] = [1, 4];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No samples any more, as after an overflow: the firmware then ends the capture.
    Stop,
    /// Transfers fail from now on.
    Fail(Fault),
    /// A transfer ends early.
    Short,
    /// No transfer any more, and the analyzer is gone from the bus.
    Unplug,
    /// So many samples are missing, and nobody says so.
    Lose(u64),
    /// The hub passes nothing on for so many samples.
    Hub(u64),
    /// The next edge of this input rings.
    Ring(u32),
    /// The ground clip has come off: every input is noise for a while, and then low.
    Ground,
}

#[derive(Default)]
struct Planned {
    /// In the order of their samples.
    troubles: Vec<(Trouble, u64)>,
    refuse_start: bool,
    version: Option<[u8; 2]>,
}

/// Clones share the same plan.
#[derive(Clone, Default)]
pub struct Faults {
    planned: Arc<Mutex<Planned>>,
    unplugged: Option<Sender<()>>,
}

impl Faults {
    /// `unplugged` is told when the analyzer is to be unplugged.
    pub fn new(unplugged: Sender<()>) -> Faults {
        Faults {
            unplugged: Some(unplugged),
            ..Faults::default()
        }
    }

    pub fn unplug(&self) {
        if let Some(unplugged) = &self.unplugged {
            // Its receiver lives as long as the process.
            let _ = unplugged.send(());
        }
    }

    /// Plans what a line says: `stop at N`, `stall at N`, `error at N`, `babble at N`, `short at
    /// N`, `unplug at N`, `lose K at N`, `hub K at N`, `ring D0 at N`, `ground at N`, `refuse start`, `version
    /// 2.4`, or `none`, which forgets all.
    pub fn plan(&self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let number = |word: &str| word.parse::<u64>().map_err(|_| unknown(line));
        let mut planned = self.planned();
        let (trouble, at) = match words[..] {
            ["none"] => {
                *planned = Planned::default();
                return Ok(());
            }
            ["refuse", "start"] => {
                planned.refuse_start = true;
                return Ok(());
            }
            ["version", version] => {
                let (major, minor) = version.split_once('.').ok_or_else(|| unknown(line))?;
                let byte = |word: &str| word.parse().map_err(|_| unknown(line));
                planned.version = Some([byte(major)?, byte(minor)?]);
                return Ok(());
            }
            ["stop" | "overflow", "at", at] => (Trouble::Stop, at),
            ["stall", "at", at] => (Trouble::Fail(Fault::Stall), at),
            ["error", "at", at] => (Trouble::Fail(Fault::Protocol), at),
            ["babble", "at", at] => (Trouble::Fail(Fault::Overflow), at),
            ["short", "at", at] => (Trouble::Short, at),
            ["unplug", "at", at] => (Trouble::Unplug, at),
            ["ring", input, "at", at] => (
                Trouble::Ring(input_of(input).ok_or_else(|| unknown(line))?),
                at,
            ),
            ["ground", "at", at] => (Trouble::Ground, at),
            ["lose", count, "at", at] => (Trouble::Lose(number(count)?), at),
            ["hub", count, "at", at] => (Trouble::Hub(number(count)?), at),
            _ => return Err(unknown(line)),
        };
        let at = number(at)?;
        drop(planned);
        self.add(trouble, at);
        Ok(())
    }

    pub fn add(&self, trouble: Trouble, at: u64) {
        let troubles = &mut self.planned().troubles;
        troubles.push((trouble, at));
        troubles.sort_by_key(|(_, at)| *at);
    }

    /// The next one, and its sample.
    pub fn next_at(&self) -> Option<(Trouble, u64)> {
        self.planned().troubles.first().copied()
    }

    pub fn take_next(&self) -> Option<Trouble> {
        let mut planned = self.planned();
        let any = !planned.troubles.is_empty();
        any.then(|| planned.troubles.remove(0).0)
    }

    /// Whether the firmware refuses to start; it does so once.
    pub fn refuses_start(&self) -> bool {
        std::mem::take(&mut self.planned().refuse_start)
    }

    pub fn firmware(&self) -> [u8; 2] {
        self.planned().version.unwrap_or(VERSION)
    }

    fn planned(&self) -> MutexGuard<'_, Planned> {
        self.planned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of `D0` to `D15`.
fn input_of(word: &str) -> Option<u32> {
    let number = word.strip_prefix('D')?.parse().ok()?;
    (number < MOST_INPUTS as u32).then_some(number)
}

fn unknown(line: &str) -> String {
    format!(
        "{line:?} is no fault of the analyzer: write stop, stall, error, babble, short or unplug at SAMPLE, \
         ground at SAMPLE, ring INPUT at SAMPLE, lose or hub COUNT at SAMPLE, refuse start, version MAJOR.MINOR, or none"
    )
}
