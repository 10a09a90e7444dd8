//! Faults to inject, and what else a program may ask of the desk: a line each, `DEVICE FAULT at N`.
//! `requests.csv` describes them, for the help and the page.

use crate::{stlink, usb};
use std::mem::take;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use virtual_nucleo::analyzer::clips::MOST_INPUTS;

/// What a program may ask for, and what then happens.
const REQUESTS: &str = include_str!("../requests.csv");
/// What fx2lafw of today says of itself: major, minor.
const VERSION: [u8; 2] = [1, 4];
/// By how many millionths the board's clock may be off.
const MOST_PPM: i64 = 10_000;
/// More than that no line floats for.
const MOST_STRAY: u64 = 4096;
/// A UART's receiver is no faster.
const MOST_BAUD: u64 = 8_000_000;

/// What happens once, at its moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Analyzer: no samples any more, as after an overflow: the firmware then ends the capture.
    Stop,
    /// Analyzer: transfers fail from now on.
    Fail(usb::Fault),
    /// Analyzer: a transfer ends early.
    Short,
    /// Analyzer: so many samples are missing, and nobody says so.
    Lose(u64),
    /// Analyzer: the hub passes nothing on for so many samples.
    Hub(u64),
    /// Analyzer: the next edge of this input rings.
    Ring(u32),
    /// Analyzer: the ground clip has come off: every input is noise for a while, and then low.
    Ground,
    /// Analyzer or probe: it is gone from the bus. Some: it comes back, with its serial port under
    /// this name.
    Unplug(Option<String>),
    /// Board: the code at the PC becomes an endless loop.
    Hang,
    /// Board: the core jumps to where no memory is.
    Astray,
    /// Board: a reset, as by the pin. Some: again after so many samples.
    Reset(Option<u64>),
    /// Board: a reset, as by a supply that dips.
    BrownOut,
    /// Board: a debugger that leaves stops DWT's counters.
    TraceOff,
    /// Serial line: one bit of this byte and each so many bytes later is inverted.
    Noise(u64),
    /// Serial line: the first line that begins there or later.
    Line(Edit),
    /// Serial line: one byte.
    Byte(Edit),
    /// Serial line: it floats before the first byte, so many bytes are heard that nobody sent.
    Stray(u64),
    /// Serial line: the hub passes nothing on while so many bytes are sent.
    Stall(u64),
    /// Serial line: nothing arrives any more.
    Silence,
    /// Serial line: the host listens at this rate.
    Baud(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    Lose,
    Double,
    Swap,
    Cut,
}

/// What counts the moments of its faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Samples that have left the analyzer, in the capture that is under way or the next one.
    Analyzer,
    /// Samples as the board's time, in that capture.
    Board,
    /// Bytes that the board has sent since that capture began.
    Serial,
}

/// The faults that are planned, and what holds until it is changed.
#[derive(Default)]
struct Planned {
    /// In the order of their moments.
    faults: [Vec<(Fault, u64)>; 3],
    refuse_start: bool,
    version: Option<[u8; 2]>,
    power_gone: bool,
    states: States,
}

/// What the board is like until it is changed.
#[derive(Clone, Copy, Default)]
pub struct States {
    /// The loader programs and erases in vain.
    pub loader_idles: bool,
    /// The flash has read protection.
    pub flash_protected: bool,
    /// By how many millionths the board's clock is too fast.
    pub clock_ppm: i64,
}

/// A device is to be unplugged, and comes back under this name if there is one.
pub type Unplugged = (&'static str, Option<String>);

/// Clones share the same plan.
#[derive(Clone)]
pub struct Faults {
    planned: Arc<Mutex<Planned>>,
    /// Who unplugs what a fault tells to.
    hand: Sender<Unplugged>,
}

impl Faults {
    /// None is planned.
    pub fn new(hand: Sender<Unplugged>) -> Faults {
        Faults {
            planned: Arc::default(),
            hand,
        }
    }

    pub fn unplug(&self, name: &'static str, back_as: Option<String>) {
        // Its receiver lives as long as the process.
        let _ = self.hand.send((name, back_as));
    }

    /// Plans what a line of `requests.csv` says. None: it says nothing of the kind.
    pub fn plan(&self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let planned = &mut *self.planned();
        match words[..] {
            ["analyzer", "none"] => {
                *planned.of(Clock::Analyzer) = Vec::new();
                (planned.refuse_start, planned.version) = (false, None);
            }
            ["analyzer", "refuse", "start"] => planned.refuse_start = true,
            ["analyzer", "version", version] => {
                let (major, minor) = version.split_once('.')?;
                planned.version = Some([major.parse().ok()?, minor.parse().ok()?]);
            }
            ["board", "none"] => {
                *planned.of(Clock::Board) = Vec::new();
                planned.states.clock_ppm = 0;
            }
            ["board", "power", "cycle"] => planned.power_gone = true,
            ["board", "crystal", ppm] => {
                let ppm: i64 = ppm.parse().ok()?;
                planned.states.clock_ppm = (-MOST_PPM..=MOST_PPM).contains(&ppm).then_some(ppm)?;
            }
            ["loader", word @ ("idle" | "works")] => planned.states.loader_idles = word == "idle",
            ["loader", word @ ("protected" | "open")] => {
                planned.states.flash_protected = word == "protected";
            }
            ["serial", "none"] => *planned.of(Clock::Serial) = Vec::new(),
            ["serial", "stray", count] => {
                let stray = Fault::Stray(count.parse::<u64>().ok()?.min(MOST_STRAY));
                planned.add(Clock::Serial, stray, 0);
            }
            [device, ref words @ .., "at", at] => {
                let clock = match device {
                    "analyzer" => Clock::Analyzer,
                    "serial" => Clock::Serial,
                    _ => Clock::Board,
                };
                planned.add(clock, fault(device, words)?, at.parse().ok()?);
            }
            _ => return None,
        }
        Some(())
    }

    pub fn add(&self, clock: Clock, fault: Fault, at: u64) {
        self.planned().add(clock, fault, at);
    }

    /// When the next one is due.
    pub fn next_at(&self, clock: Clock) -> Option<u64> {
        self.planned().of(clock).first().map(|(_, at)| *at)
    }

    /// The next one that is due by `now`, and when it was.
    pub fn take_due(&self, clock: Clock, now: u64) -> Option<(Fault, u64)> {
        let mut planned = self.planned();
        let faults = planned.of(clock);
        let due = faults.first().is_some_and(|(_, at)| *at <= now);
        due.then(|| faults.remove(0))
    }

    /// Whether the analyzer's firmware refuses to start; it does so once.
    pub fn refuses_start(&self) -> bool {
        take(&mut self.planned().refuse_start)
    }

    /// What the analyzer's firmware says of itself.
    pub fn firmware(&self) -> [u8; 2] {
        self.planned().version.unwrap_or(VERSION)
    }

    /// Whether the board loses its power and has it again; it does so once.
    pub fn power_gone(&self) -> bool {
        take(&mut self.planned().power_gone)
    }

    pub fn states(&self) -> States {
        self.planned().states
    }

    fn planned(&self) -> MutexGuard<'_, Planned> {
        self.planned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Planned {
    fn of(&mut self, clock: Clock) -> &mut Vec<(Fault, u64)> {
        &mut self.faults[clock as usize]
    }

    fn add(&mut self, clock: Clock, fault: Fault, at: u64) {
        let faults = self.of(clock);
        faults.push((fault, at));
        faults.sort_by_key(|(_, at)| *at);
    }
}

/// What a device's words before `at` say.
fn fault(device: &str, words: &[&str]) -> Option<Fault> {
    let number = |word: &str| word.parse::<u64>().ok();
    Some(match (device, words) {
        ("analyzer", ["stop" | "overflow"]) => Fault::Stop,
        ("analyzer", ["stall"]) => Fault::Fail(usb::Fault::Stall),
        ("analyzer", ["error"]) => Fault::Fail(usb::Fault::Protocol),
        ("analyzer", ["babble"]) => Fault::Fail(usb::Fault::Overflow),
        ("analyzer", ["short"]) => Fault::Short,
        ("analyzer", ["lose", count]) => Fault::Lose(number(count)?),
        ("analyzer", ["hub", count]) => Fault::Hub(number(count)?),
        ("analyzer", ["ring", input]) => {
            let input = number(input.strip_prefix('D')?)?;
            Fault::Ring((input < MOST_INPUTS as u64).then_some(input as u32)?)
        }
        ("analyzer", ["ground"]) => Fault::Ground,
        ("analyzer" | "probe", ["unplug"]) => Fault::Unplug(None),
        ("probe", ["back", "as", name]) if stlink::may_be_called(name) => {
            Fault::Unplug(Some((*name).into()))
        }
        ("board", ["hang"]) => Fault::Hang,
        ("board", ["fault"]) => Fault::Astray,
        ("board", ["reset"]) => Fault::Reset(None),
        ("board", ["reset", "every", period]) => Fault::Reset(Some(number(period)?.max(1))),
        ("board", ["brown-out"]) => Fault::BrownOut,
        ("board", ["trace", "off"]) => Fault::TraceOff,
        ("serial", ["flip"]) => Fault::Noise(u64::MAX),
        ("serial", ["noise", period]) => Fault::Noise(number(period)?.max(1)),
        ("serial", ["lose", "line"]) => Fault::Line(Edit::Lose),
        ("serial", ["double", "line"]) => Fault::Line(Edit::Double),
        ("serial", ["cut", "line"]) => Fault::Line(Edit::Cut),
        ("serial", ["swap", "lines"]) => Fault::Line(Edit::Swap),
        ("serial", ["lose", "byte"]) => Fault::Byte(Edit::Lose),
        ("serial", ["double", "byte"]) => Fault::Byte(Edit::Double),
        ("serial", ["stall", count]) => Fault::Stall(number(count)?),
        ("serial", ["silence"]) => Fault::Silence,
        ("serial", ["baud", rate]) => Fault::Baud(number(rate)?.min(MOST_BAUD)),
        _ => return None,
    })
}

/// What a program may ask for, and what then happens, for the help.
pub fn help() -> String {
    let rows = requests().map(|(request, effect)| format!("  {request}: {effect}\n"));
    "Lines to the socket `control` in the folder:\n".to_owned() + &rows.collect::<String>()
}

/// What may be asked for, and what then happens: at a sample N of the capture, or a byte B.
pub fn requests() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = REQUESTS.lines().skip(1);
    rows.filter_map(|row| row.split_once(','))
        .map(|(request, effect)| (request, effect.trim_matches('"')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn faults_are_due_in_the_order_of_their_moments() {
        let faults = Faults::new(mpsc::channel().0);
        for line in ["board reset every 7 at 30", "board hang at 10"] {
            faults.plan(line).unwrap();
        }
        assert_eq!(faults.next_at(Clock::Board), Some(10));
        assert_eq!(faults.take_due(Clock::Board, 9), None);
        let due = |now| faults.take_due(Clock::Board, now);
        assert_eq!(due(30), Some((Fault::Hang, 10)));
        assert_eq!(due(30), Some((Fault::Reset(Some(7)), 30)));
        assert_eq!(due(30), None);
    }
}
