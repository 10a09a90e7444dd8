//! The thread that runs the machine between its servers. Neither the host's clock nor the pace of a client reaches
//! the simulated time: clients only hold the thread up.

use crate::core::Stop;
use crate::machine::{Limit, Machine};
use crate::samples::{Run, Sampler};
use crate::servers::uart::Serial;
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

/// When the machine leaves reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// When a client asks for a capture, whose sample 0 is reset.
    AtCapture,
    /// At once; a capture begins wherever the machine then is.
    AtOnce,
}

/// A client's wish for samples. Runs are handed over until the receiver is dropped.
pub struct CaptureRequest {
    pub samplerate_hz: u64,
    pub runs: SyncSender<Vec<Run>>,
}

/// Cycles between two exchanges with the servers; bounds the memory that edges take.
const SLICE_CYCLES: u64 = 1 << 20;

pub struct Simulation {
    machine: Machine,
    captures: Receiver<CaptureRequest>,
    serial: Serial,
}

impl Simulation {
    pub fn new(machine: Machine, captures: Receiver<CaptureRequest>, serial: Serial) -> Simulation {
        Simulation {
            machine,
            captures,
            serial,
        }
    }

    /// Runs until the simulation stops; returns early only when the analyzer is gone before it asked for anything.
    pub fn run(mut self, start: Start) -> Result<(), Stop> {
        if start == Start::AtCapture {
            let Ok(request) = self.captures.recv() else {
                return Ok(());
            };
            self.capture(request)?;
        }
        loop {
            let request = self.run_freely()?;
            self.capture(request)?;
        }
    }

    /// Hands samples over until the client has enough.
    fn capture(&mut self, request: CaptureRequest) -> Result<(), Stop> {
        let (cycle, word) = (self.machine.cycles(), self.machine.channels());
        let mut sampler = Sampler::new(request.samplerate_hz, self.machine.timebase(), cycle, word);
        loop {
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

    /// Runs without an analyzer, held to the pace of a real board so that an idle one does not keep the host busy,
    /// until a capture is asked for.
    fn run_freely(&mut self) -> Result<CaptureRequest, Stop> {
        let (started, origin_us) = (Instant::now(), self.microseconds());
        loop {
            if let Ok(request) = self.captures.try_recv() {
                return Ok(request);
            }
            self.run_slice()?;
            self.machine.take_edges();
            let ahead = Duration::from_micros(self.microseconds() - origin_us)
                .saturating_sub(started.elapsed());
            thread::sleep(ahead);
        }
    }

    fn run_slice(&mut self) -> Result<(), Stop> {
        self.machine.receive(&self.serial.take_received());
        let slice = self.machine.run_slice(Limit::Endless, SLICE_CYCLES);
        self.serial.send(self.machine.take_transmitted());
        slice
    }

    fn microseconds(&self) -> u64 {
        self.machine
            .timebase()
            .sample(self.machine.cycles(), 1_000_000)
    }
}
