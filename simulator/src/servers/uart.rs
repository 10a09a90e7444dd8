//! The board's serial port on the host: a pseudo-terminal or a TCP port. The queue of what the
//! board sends is unbounded, so a slow reader never delays simulated time.

use super::Event;
use anyhow::{Context, Result};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;
use rustix::io::ioctl_fionread;
use rustix::pty::{grantpt, openpt, ptsname, unlockpt, OpenptFlags};
use rustix::termios::{tcflush, tcgetattr, tcsetattr, OptionalActions, QueueSelector};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::OpenOptionsExt;
use std::str::FromStr;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;
use std::time::Duration;
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

/// How often a port that nobody has open is looked at.
const REOPEN_PERIOD: Duration = Duration::from_millis(10);

/// The reader of what the board sends.
trait Reader: Write + Send {
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
        let mut empty_looks = 0;
        while empty_looks < EMPTY_LOOKS {
            thread::sleep(LOOK_PERIOD);
            let empty = ioctl_fionread(&self.slave).map_or(true, |bytes| bytes == 0);
            empty_looks = if empty { empty_looks + 1 } else { 0 };
        }
    }
}

/// The master of a pseudo-terminal that stands for a USB serial port. What the board sends while no
/// program has the port open is lost, as there.
struct PortWhileRead {
    master: File,
}

impl PortWhileRead {
    fn is_open(&self) -> bool {
        let mut asked = [PollFd::new(&self.master, PollFlags::OUT)];
        poll(&mut asked, Some(&Timespec::default())).is_ok()
            && !asked[0].revents().contains(PollFlags::HUP)
    }
}

impl Write for PortWhileRead {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_open() {
            return Ok(bytes.len());
        }
        // The program may close the port meanwhile, and then the write fails.
        self.master.write(bytes).or(Ok(bytes.len()))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.master.flush()
    }
}

impl Reader for PortWhileRead {
    fn finish(&mut self) {}
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
    name: String,
    outgoing: Sender<Message>,
    incoming: Receiver<Vec<u8>>,
}

impl Serial {
    /// What pyserial opens: `/dev/pts/3` or `socket://127.0.0.1:41002`.
    pub fn name(&self) -> &str {
        &self.name
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

pub fn open(argument: &UartArgument, events: Sender<Event>) -> Result<Serial> {
    let (outgoing, messages) = mpsc::channel();
    let (received, incoming) = mpsc::sync_channel(CHUNKS_AHEAD);
    let name = match argument {
        UartArgument::Pty => {
            open_pty(&outgoing, received).context("cannot open a pseudo-terminal for the UART")?
        }
        UartArgument::Tcp(port) => listen(*port, outgoing.clone(), received)
            .with_context(|| format!("cannot listen for the UART on port {port}"))?,
    };
    thread::spawn(move || {
        hand_over(&messages);
        let _ = events.send(Event::UartEnded);
    });
    Ok(Serial {
        name,
        outgoing,
        incoming,
    })
}

/// A pseudo-terminal that behaves as a USB serial port: only what is sent while a program has it
/// open arrives.
pub fn open_while_read(events: Sender<Event>) -> Result<Serial> {
    let (outgoing, messages) = mpsc::channel();
    let (received, incoming) = mpsc::sync_channel(CHUNKS_AHEAD);
    let (master, _slave, name) = raw_terminal().context("cannot open a pseudo-terminal")?;
    let mut reader = master
        .try_clone()
        .context("cannot open a pseudo-terminal")?;
    // The receiver is ours.
    let _ = outgoing.send(Message::Reader(Box::new(PortWhileRead { master })));
    thread::spawn(move || loop {
        receive(&mut reader, &received);
        // No program has it open. What the last one did not read is gone with it.
        let _ = tcflush(&reader, QueueSelector::OFlush);
        thread::sleep(REOPEN_PERIOD);
    });
    thread::spawn(move || {
        hand_over(&messages);
        let _ = events.send(Event::UartEnded);
    });
    Ok(Serial {
        name,
        outgoing,
        incoming,
    })
}

/// Master, slave and the slave's path.
fn raw_terminal() -> Result<(File, File, String)> {
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

fn open_pty(outgoing: &Sender<Message>, received: SyncSender<Vec<u8>>) -> Result<String> {
    let (master, slave, name) = raw_terminal()?;
    let mut reader = master.try_clone()?;
    let terminal = Terminal {
        master,
        slave: slave.try_clone()?,
    };
    // The caller still has the receiver.
    let _ = outgoing.send(Message::Reader(Box::new(terminal)));
    thread::spawn(move || {
        // An open slave keeps the terminal alive while no reader has it open.
        let _slave = slave;
        receive(&mut reader, &received);
    });
    Ok(name)
}

fn listen(port: u16, outgoing: Sender<Message>, received: SyncSender<Vec<u8>>) -> Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    let name = format!("socket://{}", listener.local_addr()?);
    thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let Ok(writer) = socket.try_clone() else {
                continue;
            };
            if outgoing.send(Message::Reader(Box::new(writer))).is_err() {
                break;
            }
            receive(&mut socket, &received);
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
            Message::Reader(new) => reader = Some(new),
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
