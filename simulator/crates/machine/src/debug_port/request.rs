//! What a probe asks of the target, and what it is told; and the way from the servers' threads to
//! the debug port, which the simulation's thread has.

use cortex_m::bus::Width;
use cortex_m::DebugFault;
use std::fmt;
use std::sync::mpsc::{self, Receiver, Sender};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    ReadDebugPort {
        register: u32,
    },
    WriteDebugPort {
        register: u32,
        value: u32,
    },
    /// The access port is in bits 31:24 of `register`.
    ReadAccessPort {
        register: u32,
        count: usize,
    },
    WriteAccessPort {
        register: u32,
        values: Vec<u32>,
    },
    ReadMemory {
        address: u32,
        width: Width,
        count: usize,
    },
    WriteMemory {
        address: u32,
        width: Width,
        values: Vec<u32>,
    },
    Reset,
    HoldReset(bool),
    IsResetHeld,
    /// Whoever used the probe lets go of it. What was set in the core stays.
    Leave,
    /// One after the other, with no other client's request between them. The first failure is the
    /// answer to all, and ends them.
    InOrder(Vec<Request>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Done,
    Values(Vec<u32>),
    Flag(bool),
    /// To each of [`Request::InOrder`].
    All(Vec<Answer>),
}

impl Answer {
    /// The values read, in order, of all requests.
    pub fn values(self) -> Vec<u32> {
        match self {
            Answer::Values(values) => values,
            Answer::All(answers) => answers.into_iter().flat_map(Answer::values).collect(),
            Answer::Done | Answer::Flag(_) => Vec::new(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The access itself failed, as it would on the chip.
    Transfer(String),
    /// The core sleeps, and its bus has no clock.
    Asleep,
    /// Refused: an earlier transfer failed, and its sticky error is not cleared.
    Sticky,
    /// The simulation has stopped, and why.
    Stopped(String),
}

impl From<DebugFault> for Failure {
    fn from(fault: DebugFault) -> Failure {
        match fault {
            DebugFault::Bus { address } => {
                Failure::Transfer(format!("nothing answers at {address:#010x}"))
            }
            DebugFault::Unmodelled { what, address } => {
                Failure::Transfer(format!("{what} at {address:#010x} is not modelled"))
            }
            DebugFault::Stop(stop) => Failure::Stopped(stop.to_string()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Transfer(why) | Failure::Stopped(why) => f.write_str(why),
            Failure::Asleep => f.write_str(
                "the core sleeps, and its bus has no clock then unless DBGMCU_CR has DBG_SLEEP",
            ),
            Failure::Sticky => {
                f.write_str("an earlier transfer failed and its error is not cleared")
            }
        }
    }
}

/// Whatever carries out a probe's requests.
pub trait Target {
    fn ask(&mut self, request: Request) -> Result<Answer, Failure>;
}

/// A request for the simulation's thread, and where its answer goes.
pub struct ProbeRequest {
    pub request: Request,
    pub reply: Sender<Result<Answer, Failure>>,
}

/// A probe's end of the wire. Clones lead to the same target.
#[derive(Clone)]
pub struct Wire {
    requests: Sender<ProbeRequest>,
}

impl Wire {
    /// A wire and its other end.
    pub fn new() -> (Wire, Receiver<ProbeRequest>) {
        let (requests, arrivals) = mpsc::channel();
        (Wire { requests }, arrivals)
    }
}

impl Target for Wire {
    fn ask(&mut self, request: Request) -> Result<Answer, Failure> {
        let gone = || Failure::Stopped("the simulation has stopped".into());
        let (reply, answer) = mpsc::channel();
        self.requests
            .send(ProbeRequest { request, reply })
            .map_err(|_| gone())?;
        answer.recv().map_err(|_| gone())?
    }
}
