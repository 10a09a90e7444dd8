//! The board's serial port on the host: a pseudo-terminal or a TCP port. The queue of what the
//! board sends is unbounded, so a slow reader never delays simulated time.

use super::Event;
use anyhow::{Context, Result};
use rustix::fs::OFlags;
use rustix::io::ioctl_fionread;
use rustix::pty::{grantpt, openpt, ptsname, unlockpt, OpenptFlags};
use rustix::termios::{tcgetattr, tcsetattr, OptionalActions};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::OpenOptionsExt;
use std::str::FromStr;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;
use std::time::{Duration, Instant};
use thiserror::Error;

/// `--uart`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UartArgument {
    Pty,
    Tcp(u16),
}

#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0:?} is no serial port: write pty, or tcp:PORT with a port from 0 to 65535")]
pub struct BadUart(String);

impl FromStr for UartArgument {
    type Err = BadUart;

    fn from_str(text: &str) -> Result<Self, BadUart> {
        if text == "pty" {
            return Ok(UartArgument::Pty);
        }
        text.strip_prefix("tcp:")
            .and_then(|port| port.parse().ok())
            .map(UartArgument::Tcp)
            .ok_or_else(|| BadUart(text.into()))
    }
}

/// At most this many reads from the host wait here. Then the host must wait.
const CHUNKS_AHEAD: usize = 16;

/// How a terminal is closed. What was written reaches the other side a little later, so the
/// terminal is looked at this often, until nothing was left to read this many times in a row.
const LOOK_PERIOD: Duration = Duration::from_millis(2);
const EMPTY_LOOKS: usize = 5;

/// The reader of what the board sends.
pub trait Reader: Write + Send {
    /// Call at the end. Waits until nothing that was written can be lost.
    fn finish(&mut self);
}

/// The kernel still delivers what was written to a socket that is closed.
impl Reader for TcpStream {
    fn finish(&mut self) {}
}

/// The master of a pseudo-terminal. When it closes, what its slave has not read is lost.
struct Terminal {
    master: File,
    slave: File,
}

impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.master.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.master.flush()
    }
}

impl Reader for Terminal {
    fn finish(&mut self) {
        wait_until_read(&self.slave, Duration::MAX);
    }
}

/// Waits until nothing is left to read of a terminal, but no longer than this.
pub fn wait_until_read(slave: &File, longest: Duration) {
    let (since, mut empty_looks) = (Instant::now(), 0);
    while empty_looks < EMPTY_LOOKS && since.elapsed() < longest {
        thread::sleep(LOOK_PERIOD);
        let empty = ioctl_fionread(slave).map_or(true, |bytes| bytes == 0);
        empty_looks = if empty { empty_looks + 1 } else { 0 };
    }
}

/// For the thread that writes to the host.
enum Message {
    Bytes(Vec<u8>),
    /// A new reader. The old one is gone.
    Reader(Box<dyn Reader>),
    End,
}

/// The simulation's end of the serial port.
pub struct Serial {
    outgoing: Sender<Message>,
    incoming: Receiver<Vec<u8>>,
}

/// The host's end.
#[derive(Clone)]
pub struct Host {
    outgoing: Sender<Message>,
    /// Takes what the host sends.
    pub received: SyncSender<Vec<u8>>,
}

impl Serial {
    /// A serial port that nobody has open yet.
    pub fn new(events: Sender<Event>) -> (Serial, Host) {
        let (outgoing, messages) = mpsc::channel();
        let (received, incoming) = mpsc::sync_channel(CHUNKS_AHEAD);
        thread::spawn(move || {
            hand_over(&messages);
            let _ = events.send(Event::UartEnded);
        });
        let host = Host {
            outgoing: outgoing.clone(),
            received,
        };
        (Serial { outgoing, incoming }, host)
    }

    pub fn send(&self, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            // The writer's thread lives as long as this sender.
            let _ = self.outgoing.send(Message::Bytes(bytes));
        }
    }

    /// Bytes from the host since the last call.
    pub fn take_received(&self) -> Vec<u8> {
        self.incoming.try_iter().flatten().collect()
    }
}

impl Drop for Serial {
    fn drop(&mut self) {
        let _ = self.outgoing.send(Message::End);
    }
}

impl Host {
    /// From now on `reader` gets what the board sends. The reader before is gone. False at the end.
    pub fn read_by(&self, reader: impl Reader + 'static) -> bool {
        let reader = Message::Reader(Box::new(reader));
        self.outgoing.send(reader).is_ok()
    }
}

/// The serial port, and what pyserial opens: `/dev/pts/3` or `socket://127.0.0.1:41002`.
pub fn open(argument: &UartArgument, events: Sender<Event>) -> Result<(Serial, String)> {
    let (serial, host) = Serial::new(events);
    let name = match argument {
        UartArgument::Pty => {
            open_pty(host).context("cannot open a pseudo-terminal for the UART")?
        }
        UartArgument::Tcp(port) => listen(*port, host)
            .with_context(|| format!("cannot listen for the UART on port {port}"))?,
    };
    Ok((serial, name))
}

/// Master, slave and the slave's path.
pub fn raw_terminal() -> Result<(File, File, String)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?.into_string()?;
    let slave = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(OFlags::NOCTTY.bits() as i32)
        .open(&name)?;
    let mut attributes = tcgetattr(&slave)?;
    attributes.make_raw();
    tcsetattr(&slave, OptionalActions::Now, &attributes)?;
    Ok((File::from(master), slave, name))
}

fn open_pty(host: Host) -> Result<String> {
    let (master, slave, name) = raw_terminal()?;
    let mut reader = master.try_clone()?;
    host.read_by(Terminal {
        master,
        slave: slave.try_clone()?,
    });
    thread::spawn(move || {
        // An open slave keeps the terminal alive while no reader has it open.
        let _slave = slave;
        receive(&mut reader, &host.received);
    });
    Ok(name)
}

fn listen(port: u16, host: Host) -> Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    let name = format!("socket://{}", listener.local_addr()?);
    thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let Ok(writer) = socket.try_clone() else {
                continue;
            };
            if !host.read_by(writer) {
                break;
            }
            receive(&mut socket, &host.received);
        }
    });
    Ok(name)
}

/// Passes on what the host sends, until it hangs up.
fn receive(source: &mut impl Read, received: &SyncSender<Vec<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = source.read(&mut buffer) {
        if received.send(buffer[..count].to_vec()).is_err() {
            break;
        }
    }
}

/// Writes the board's bytes in order. They wait while nobody is connected. Bytes given to a reader
/// that then hangs up are lost, as on a wire.
fn hand_over(messages: &Receiver<Message>) {
    let mut reader: Option<Box<dyn Reader>> = None;
    let mut waiting = Vec::new();
    for message in messages {
        match message {
            Message::Bytes(bytes) => waiting.extend(bytes),
            Message::Reader(new) => {
                if let Some(mut old) = reader.replace(new) {
                    old.finish();
                }
            }
            Message::End => break,
        }
        if let Some(open) = &mut reader {
            if open.write_all(&waiting).is_err() {
                reader = None;
            }
            waiting.clear();
        }
    }
    if let Some(mut open) = reader {
        open.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_named() {
        assert_eq!("pty".parse(), Ok(UartArgument::Pty));
        assert_eq!("tcp:0".parse(), Ok(UartArgument::Tcp(0)));
        for text in ["", "tcp", "tcp:", "tcp:65536", "udp:1"] {
            assert_eq!(text.parse::<UartArgument>(), Err(BadUart(text.into())));
        }
    }
}
