//! The debug probe: pyOCD's remote probe protocol, one JSON object a line over TCP. Requests that concern the target go
//! to the simulation's thread; what concerns the conversation is answered here.

mod lock;
pub mod protocol;

use super::listener::Listener;
use crate::debug::{Answer, Failure, Request};
use anyhow::Result;
use lock::{ClientId, ProbeLock};
use protocol::{Call, Refusal};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::Arc;

/// A block of 512 KiB, each byte of it a number of up to three digits, fits.
const LONGEST_LINE_BYTES: u64 = 4 << 20;

/// A request for the simulation's thread, and where its answer goes.
pub struct ProbeRequest {
    pub request: Request,
    pub reply: Sender<Result<Answer, Failure>>,
}

/// The listening probe.
pub struct Probe {
    listener: Listener,
    requests: Sender<ProbeRequest>,
}

impl Probe {
    /// Listens on the loopback interface; requests come out of the receiver.
    pub fn listen(port: u16) -> Result<(Probe, Receiver<ProbeRequest>)> {
        let listener = Listener::listen(port, "the debug probe")?;
        let (requests, arrivals) = mpsc::channel();
        Ok((Probe { listener, requests }, arrivals))
    }

    /// `127.0.0.1:41003`
    pub fn address(&self) -> String {
        self.listener.address()
    }

    /// Serves clients, each on a thread of its own.
    pub fn serve(self) {
        let lock = Arc::new(ProbeLock::default());
        self.listener.serve(move |socket, number| {
            let client = Client {
                id: number,
                requests: self.requests.clone(),
                lock: Arc::clone(&lock),
            };
            // A connection that breaks ends its client and nothing else.
            let _ = client.converse(&socket);
            client.lock.release_all(client.id);
        });
    }
}

struct Client {
    id: ClientId,
    requests: Sender<ProbeRequest>,
    lock: Arc<ProbeLock>,
}

impl Client {
    fn converse(&self, socket: &TcpStream) -> io::Result<()> {
        socket.set_nodelay(true)?;
        let mut lines = BufReader::new(socket.try_clone()?);
        let mut socket = socket;
        while let Some(line) = read_line(&mut lines)? {
            socket.write_all(self.answer(&line).as_bytes())?;
        }
        Ok(())
    }

    /// The line to send back.
    fn answer(&self, line: &[u8]) -> String {
        let (id, call) = protocol::parse(line);
        let outcome = call.and_then(|call| self.obey(call));
        protocol::reply(&id, outcome)
    }

    fn obey(&self, call: Call) -> Result<serde_json::Value, Refusal> {
        match call {
            Call::Settled(value) => Ok(value),
            Call::Lock => self.lock.acquire(self.id).map(|()| protocol::nothing()),
            Call::Unlock => self.lock.release(self.id).map(|()| protocol::nothing()),
            Call::Target(request, shape) => {
                self.lock.check(self.id)?;
                Ok(shape.value(self.ask(request)?))
            }
        }
    }

    fn ask(&self, request: Request) -> Result<Answer, Refusal> {
        let (reply, answer) = mpsc::channel();
        let gone = |_| Refusal::disconnected("the simulation has stopped");
        self.requests
            .send(ProbeRequest { request, reply })
            .map_err(|_| Refusal::disconnected("the simulation has stopped"))?;
        answer.recv().map_err(gone)?.map_err(Refusal::from)
    }
}

/// A line with its end; `None` at the end of the connection or when the line is too long to be one of this protocol.
fn read_line(lines: &mut BufReader<TcpStream>) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    lines
        .take(LONGEST_LINE_BYTES)
        .read_until(b'\n', &mut line)?;
    let whole = line.ends_with(b"\n");
    Ok(whole.then_some(line))
}
