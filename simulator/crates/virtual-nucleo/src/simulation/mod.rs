//! The thread that runs the machine for its servers. Simulated time depends neither on the host's
//! clock nor on how fast clients are. They only delay this thread.

mod debugger;
mod desk;
mod lead_in;
pub mod mishaps;
mod notes_file;
mod ring;
mod windows_file;

pub use debugger::Debugger;
pub use desk::{BoardFaults, Desk, Power, ProbeGone};
pub use notes_file::NotesFile;
pub use windows_file::WindowsFile;

use ::desk::capture_request::CaptureRequest;
use ::desk::clips::{Clips, Inputs};
use ::desk::samples::Sampler;
use ::desk::uart::Serial;
use cortex_m::Stop;
use machine::{Limit, Machine};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

/// When the machine leaves reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// When a client asks for a capture; its sample 0 is the reset. Or when a debugger halts the
    /// core and resumes it.
    AtCapture,
    /// At once. A capture begins wherever the machine is by then.
    AtOnce,
}

/// How often the simulation looks at everything else while it waits for a debugger.
const ATTENTION_PERIOD: Duration = Duration::from_millis(2);

/// Cycles between two exchanges with the servers. This limits the memory for edges.
pub const SLICE_CYCLES: u64 = 1 << 20;

/// What ended the wait for the board's start.
enum Held {
    Captured(CaptureRequest),
    TakenOver,
    Abandoned,
}

/// The machine holds at most this many bytes for the UART. Then the host must wait, since a client
/// could send without end.
const MOST_BYTES_TO_RECEIVE: usize = 1 << 16;

/// Hands the host's bytes to the machine.
fn hear(machine: &mut Machine, serial: &Serial) {
    if machine.bytes_to_receive() < MOST_BYTES_TO_RECEIVE {
        machine.receive(&serial.take_received());
    }
}

pub struct Simulation {
    machine: Machine,
    clips: Clips,
    captures: Receiver<CaptureRequest>,
    serial: Serial,
    debugger: Option<Debugger>,
    windows_file: Option<WindowsFile>,
    notes_file: Option<NotesFile>,
}

impl Simulation {
    pub fn new(
        machine: Machine,
        clips: Clips,
        captures: Receiver<CaptureRequest>,
        serial: Serial,
        debugger: Option<Debugger>,
        windows_file: Option<WindowsFile>,
        notes_file: Option<NotesFile>,
    ) -> Simulation {
        Simulation {
            machine,
            clips,
            captures,
            serial,
            debugger,
            windows_file,
            notes_file,
        }
    }

    /// Runs until the simulation stops. Returns early only if the analyzer is gone before a
    /// capture.
    pub fn run(mut self, start: Start) -> Result<(), Stop> {
        if start == Start::AtCapture {
            match self.held_in_reset() {
                Held::Captured(request) => self.capture(request)?,
                Held::TakenOver => {}
                Held::Abandoned => return Ok(()),
            }
        }
        loop {
            let request = self.run_freely()?;
            self.capture(request)?;
        }
    }

    /// Waits for what starts the board. Meanwhile a debugger can look at it.
    fn held_in_reset(&mut self) -> Held {
        let Some(debugger) = &mut self.debugger else {
            return self.captures.recv().map_or(Held::Abandoned, Held::Captured);
        };
        loop {
            match self.captures.try_recv() {
                Ok(request) => return Held::Captured(request),
                Err(TryRecvError::Disconnected) => return Held::Abandoned,
                Err(TryRecvError::Empty) => {}
            }
            debugger.attend(&mut self.machine, ATTENTION_PERIOD);
            if debugger.took_over() {
                return Held::TakenOver;
            }
        }
    }

    /// Sends samples until the client has enough.
    fn capture(&mut self, request: CaptureRequest) -> Result<(), Stop> {
        let inputs = Inputs::new(&self.clips, |pin| self.machine.soc().level(pin));
        let cycle = self.machine.cycles();
        let timebase = self.machine.timebase();
        let mut sampler = Sampler::new(request.samplerate_hz, timebase, cycle, inputs);
        loop {
            if let Some(debugger) = &mut self.debugger {
                let patience = debugger.patience(&mut self.machine);
                debugger.attend(&mut self.machine, patience);
                if !debugger.lets_run(&self.machine) {
                    continue; // and the client waits
                }
            }
            let slice = self.run_slice();
            let edges = self.machine.take_edges();
            let runs = sampler.runs(&edges, self.machine.cycles(), self.machine.timebase());
            let wanted = runs.is_empty() || request.runs.send(runs).is_ok();
            slice?;
            if !wanted {
                return Ok(());
            }
        }
    }

    /// Runs without an analyzer until a capture is asked for. It runs no faster than a real board,
    /// so that an idle one does not keep the host busy; a flash algorithm alone is not held back.
    fn run_freely(&mut self) -> Result<CaptureRequest, Stop> {
        let (mut started, mut origin_us) = (Instant::now(), self.microseconds());
        loop {
            if let Ok(request) = self.captures.try_recv() {
                return Ok(request);
            }
            if !self.may_run() {
                self.pass_time(ATTENTION_PERIOD);
                (started, origin_us) = (Instant::now(), self.microseconds());
                continue;
            }
            self.run_slice()?;
            self.machine.take_edges();
            let ahead = Duration::from_micros(self.microseconds() - origin_us)
                .saturating_sub(started.elapsed());
            if self.is_awaited() {
                self.pass_time(Duration::ZERO);
            } else {
                self.pass_time(ahead);
            }
        }
    }

    /// Whether a debugger waits for the core to halt.
    fn is_awaited(&self) -> bool {
        self.debugger
            .as_ref()
            .is_some_and(|debugger| debugger.awaits_the_end(&self.machine))
    }

    fn may_run(&self) -> bool {
        self.debugger
            .as_ref()
            .is_none_or(|debugger| debugger.lets_run(&self.machine))
    }

    /// Lets the host's time pass. A debugger's request is answered and ends the wait.
    fn pass_time(&mut self, time: Duration) {
        match &mut self.debugger {
            Some(debugger) => debugger.attend(&mut self.machine, time),
            None => thread::sleep(time),
        }
    }

    fn run_slice(&mut self) -> Result<(), Stop> {
        hear(&mut self.machine, &self.serial);
        let cycles = self
            .debugger
            .as_ref()
            .map_or(SLICE_CYCLES, |debugger| debugger.slice_cycles(SLICE_CYCLES));
        let slice = match &mut self.windows_file {
            Some(windows_file) => windows_file.run_slice(&mut self.machine, cycles),
            None => self.machine.run_slice(Limit::Endless, cycles),
        };
        if let Some(notes_file) = &mut self.notes_file {
            notes_file.see(&self.machine);
        }
        self.serial.send(self.machine.take_transmitted());
        slice
    }

    fn microseconds(&self) -> u64 {
        self.machine
            .timebase()
            .sample(self.machine.cycles(), 1_000_000)
    }
}
