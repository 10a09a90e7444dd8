//! The way from the servers' threads to the debug port, which the simulation's thread has.

use super::request::{Answer, Failure, Request};
use std::sync::mpsc::{self, Receiver, Sender};

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
