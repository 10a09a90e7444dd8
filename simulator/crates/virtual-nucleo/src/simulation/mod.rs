//! The thread that moves a board, between what is attached to it: servers, a debugger, an analyzer,
//! files, and what lies around it. Simulated time depends neither on the host's clock nor on how
//! fast clients are, unless what lies around the board says so.

mod debugger;
mod notes_file;
mod ring;
mod windows_file;

pub use debugger::Debugger;
pub use notes_file::NotesFile;
pub use windows_file::WindowsFile;

use crate::analyzer::clips::{Clips, Inputs};
use crate::analyzer::samples::{Run, Sampler};
use crate::analyzer::CaptureRequest;
use crate::servers::uart::Serial;
use cortex_m::Stop;
use machine::{Limit, Machine};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, TryRecvError, TrySendError};
use std::thread;
use std::time::{Duration, Instant};

/// How often the simulation looks at everything else while it waits for somebody.
const ATTENTION_PERIOD: Duration = Duration::from_millis(2);

/// Cycles between two exchanges with the servers. This limits the memory for edges.
pub const SLICE_CYCLES: u64 = 1 << 20;

/// The machine holds at most this many bytes for the UART. Then the host must wait, since a client
/// could send without end.
const MOST_BYTES_TO_RECEIVE: usize = 1 << 16;

/// A capture that is under way.
pub struct Capture {
    pub request: CaptureRequest,
    pub sampler: Sampler,
    /// Samples that the analyzer has no room for yet. The board waits for it.
    pub outbox: VecDeque<Vec<Run>>,
}

/// A board, and what every board that serves has attached to it.
pub struct Board {
    pub machine: Machine,
    pub clips: Clips,
    pub captures: Receiver<CaptureRequest>,
    pub serial: Serial,
    pub debugger: Option<Debugger>,
    pub windows_file: Option<WindowsFile>,
    pub notes_file: Option<NotesFile>,
    /// Whether it has left reset: at once, with the first capture, whose sample 0 is the reset, or
    /// when a debugger has halted the core and resumes it.
    pub powered: bool,
    pub capture: Option<Capture>,
}

/// What else lies around a board, and the moments at which it acts. By default it does nothing.
pub trait Surroundings {
    /// At each turn of the loop.
    fn look(&mut self, _board: &mut Board) {}

    /// Whether it keeps a board from running that may run.
    fn holds(&self, _board: &Board) -> bool {
        false
    }

    /// A capture has been asked for. `waits`: the board does not run.
    fn begin_capture(&mut self, _board: &mut Board, _waits: bool) {}

    /// The board does not run.
    fn stand_still(&mut self, _board: &mut Board) {}

    /// The board runs for a while, to this limit at most.
    fn begin_slice(&mut self, _board: &mut Board) -> Limit {
        Limit::Endless
    }

    /// What arrives of the bytes that the board has sent.
    fn carry(&mut self, _board: &Board, sent: Vec<u8>) -> Vec<u8> {
        sent
    }

    /// The board has run for a while. An error ends the simulation.
    fn end_slice(&mut self, _board: &mut Board, slice: Result<(), Stop>) -> Result<(), Stop> {
        slice
    }

    /// Without a capture, how long the board rests that is so far `ahead` of the host's clock and has
    /// run for so long.
    fn rest(&self, ahead: Duration, _ran: Duration) -> Duration {
        ahead
    }
}

/// Nothing more than the servers.
pub struct Nothing;

impl Surroundings for Nothing {}

impl Board {
    /// Runs as long as the process, or until the simulation stops.
    pub fn run(mut self, mut around: impl Surroundings) -> Result<(), Stop> {
        // Where simulated time and the host's are compared from.
        let mut anchor = (Instant::now(), self.simulated());
        while self.take_request(&mut around) {
            self.powered |= self.debugger.as_ref().is_some_and(Debugger::took_over);
            around.look(&mut self);
            if !self.deliver() {
                self.attend(ATTENTION_PERIOD); // the analyzer's host takes its time
                continue;
            }
            if self.may_run(&around) {
                let patience = match &self.debugger {
                    Some(debugger) => debugger.patience(&mut self.machine),
                    None => Duration::ZERO,
                };
                self.attend(patience);
            }
            if !self.may_run(&around) {
                around.stand_still(&mut self);
                self.attend(ATTENTION_PERIOD);
                continue;
            }
            let slice = self.run_slice(&mut around);
            if let Err(stop) = around.end_slice(&mut self, slice) {
                if let Some(capture) = self.capture {
                    // Whether the analyzer's host takes it or not, nothing more will come.
                    let sent = |runs| capture.request.runs.send(runs);
                    let _ = capture.outbox.into_iter().try_for_each(sent);
                }
                return Err(stop);
            }
            // Without a capture, simulated time is not faster than the host's, so that an idle board does
            // not keep the host busy; a flash algorithm alone is not held back.
            if self.capture.is_none() && !self.is_awaited() {
                let (since, from) = anchor;
                let ran = since.elapsed();
                let ahead = self.simulated().saturating_sub(from).saturating_sub(ran);
                let rest = around.rest(ahead, ran);
                if !rest.is_zero() {
                    self.attend(rest);
                }
            }
            anchor = (Instant::now(), self.simulated());
        }
        Ok(())
    }

    /// A capture that is asked for replaces the one under way. False when the analyzer is gone.
    fn take_request(&mut self, around: &mut impl Surroundings) -> bool {
        let request = match self.captures.try_recv() {
            Ok(request) => request,
            Err(error) => return error == TryRecvError::Empty,
        };
        let waits = !self.may_run(around);
        let (cycle, timebase) = (self.machine.cycles(), self.machine.timebase());
        self.capture = Some(Capture {
            sampler: Sampler::new(request.samplerate_hz, timebase, cycle, self.inputs()),
            outbox: VecDeque::new(),
            request,
        });
        around.begin_capture(self, waits);
        self.powered = true;
        true
    }

    /// What the analyzer's inputs read now.
    pub fn inputs(&self) -> Inputs {
        Inputs::new(&self.clips, |pin| self.machine.soc().level(pin))
    }

    fn may_run(&self, around: &impl Surroundings) -> bool {
        let debugger = self.debugger.as_ref();
        self.powered
            && debugger.is_none_or(|debugger| debugger.lets_run(&self.machine))
            && !around.holds(self)
    }

    /// Whether a debugger waits for the core to halt.
    fn is_awaited(&self) -> bool {
        let mut debugger = self.debugger.iter();
        debugger.any(|debugger| debugger.awaits_the_end(&self.machine))
    }

    /// Lets the host's time pass. A debugger's request is answered and ends the wait.
    fn attend(&mut self, time: Duration) {
        match &mut self.debugger {
            Some(debugger) => debugger.attend(&mut self.machine, time),
            None => thread::sleep(time),
        }
    }

    /// Hands over what is sampled. False while the analyzer has no room for all of it.
    fn deliver(&mut self) -> bool {
        let Some(capture) = &mut self.capture else {
            return true;
        };
        while let Some(runs) = capture.outbox.pop_front() {
            match capture.request.runs.try_send(runs) {
                Ok(()) => (capture.request.arrived)(),
                Err(TrySendError::Full(runs)) => {
                    capture.outbox.push_front(runs);
                    return false;
                }
                Err(TrySendError::Disconnected(_)) => {
                    self.capture = None;
                    return true;
                }
            }
        }
        true
    }

    fn run_slice(&mut self, around: &mut impl Surroundings) -> Result<(), Stop> {
        let limit = around.begin_slice(self);
        let machine = &mut self.machine;
        if machine.bytes_to_receive() < MOST_BYTES_TO_RECEIVE {
            machine.receive(&self.serial.take_received());
        }
        let cycles = match &self.debugger {
            Some(debugger) => debugger.slice_cycles(SLICE_CYCLES),
            None => SLICE_CYCLES,
        };
        let slice = match &mut self.windows_file {
            Some(windows_file) => windows_file.run_slice(machine, limit, cycles),
            None => machine.run_slice(limit, cycles),
        };
        if let Some(notes_file) = &mut self.notes_file {
            notes_file.see(machine);
        }
        let sent = machine.take_transmitted();
        self.serial.send(around.carry(self, sent));
        let edges = self.machine.take_edges();
        if let Some(capture) = &mut self.capture {
            let (cycle, timebase) = (self.machine.cycles(), self.machine.timebase());
            let runs = capture.sampler.runs(&edges, cycle, timebase);
            if !runs.is_empty() {
                capture.outbox.push_back(runs);
            }
        }
        slice
    }

    fn simulated(&self) -> Duration {
        let cycle = self.machine.cycles();
        Duration::from_micros(self.machine.timebase().sample(cycle, 1_000_000))
    }
}
