//! The debug probe: pyOCD's remote probe protocol, with one JSON object in each line over TCP.
//! Requests for the target go to the simulation's thread. All others are answered here.

mod lock;
pub mod protocol;

use super::listener::Listener;
use anyhow::Result;
use lock::{ClientId, ProbeLock};
use machine::debug_port::{Target, Wire};
use protocol::{Call, Refusal};
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

/// Room for a block of 512 KiB, with up to three digits for each byte.
const LONGEST_LINE_BYTES: u64 = 4 << 20;

/// The listening probe.
pub struct Probe {
    listener: Listener,
    wire: Wire,
}

impl Probe {
    /// Listens on the loopback interface. The requests go over `wire`.
    pub fn listen(port: u16, wire: Wire) -> Result<Probe> {
        let listener = Listener::listen(port, "the debug probe")?;
        Ok(Probe { listener, wire })
    }

    /// `127.0.0.1:41003`
    pub fn address(&self) -> String {
        self.listener.address()
    }

    /// Serves each client on its own thread.
    pub fn serve(self) {
        let lock = Arc::new(ProbeLock::default());
        self.listener.serve(move |socket, number| {
            let mut client = Client {
                id: number,
                wire: self.wire.clone(),
                lock: Arc::clone(&lock),
            };
            // A broken connection ends its client and nothing else.
            let _ = client.converse(&socket);
            client.lock.release_all(client.id);
        });
    }
}

struct Client {
    id: ClientId,
    wire: Wire,
    lock: Arc<ProbeLock>,
}

impl Client {
    fn converse(&mut self, socket: &TcpStream) -> io::Result<()> {
        socket.set_nodelay(true)?;
        let mut lines = BufReader::new(socket.try_clone()?);
        let mut socket = socket;
        while let Some(line) = read_line(&mut lines)? {
            socket.write_all(self.answer(&line).as_bytes())?;
        }
        Ok(())
    }

    /// The line to send back.
    fn answer(&mut self, line: &[u8]) -> String {
        let (id, call) = protocol::parse(line);
        let outcome = call.and_then(|call| self.obey(call));
        protocol::reply(&id, outcome)
    }

    fn obey(&mut self, call: Call) -> Result<Value, Refusal> {
        match call {
            Call::Settled(value) => Ok(value),
            Call::Lock => self.lock.acquire(self.id).map(|()| Value::Null),
            Call::Unlock => self.lock.release(self.id).map(|()| Value::Null),
            Call::Target(request, shape) => {
                self.lock.check(self.id)?;
                Ok(shape.value(self.wire.ask(request)?))
            }
        }
    }
}

/// A line with its end. `None` at the end of the connection, or if the line is too long.
fn read_line(lines: &mut BufReader<TcpStream>) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    lines
        .take(LONGEST_LINE_BYTES)
        .read_until(b'\n', &mut line)?;
    let whole = line.ends_with(b"\n");
    Ok(whole.then_some(line))
}
