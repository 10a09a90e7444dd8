//! The board's serial port on the host: a pseudo-terminal or a TCP port. The queue of what the
//! board sends is unbounded, so a slow reader never delays simulated time.

use crate::Event;
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
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
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

/// A terminal's rate before anybody sets it (tty_std_termios in the kernel).
const UNSET_BAUD: u32 = 38_400;

/// At most this many reads from the host wait here. Then the host must wait.
const CHUNKS_AHEAD: usize = 16;

/// How a terminal is closed. What was written reaches the other side a little later, so the
/// terminal is looked at this often, until nothing was left to read this many times in a row.
const LOOK_PERIOD: Duration = Duration::from_millis(2);
const EMPTY_LOOKS: usize = 5;

/// A program that does not read its port is not waited for beyond this.
const LONGEST_FINISH: Duration = Duration::from_secs(2);

/// How soon a program learns that its port is unplugged.
const LOOK_PERIOD_OF_PORT: Duration = Duration::from_millis(20);

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
    /// Its slave's path.
    name: String,
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
    /// A program that has it open gets what was sent before, if it reads.
    fn finish(&mut self) {
        if !self.is_open() {
            return;
        }
        let slave = OpenOptions::new()
            .read(true)
            .custom_flags(OFlags::NOCTTY.bits() as i32)
            .open(&self.name);
        let Ok(slave) = slave else { return };
        let (since, mut empty_looks) = (Instant::now(), 0);
        while empty_looks < EMPTY_LOOKS && since.elapsed() < LONGEST_FINISH {
            thread::sleep(LOOK_PERIOD);
            let empty = ioctl_fionread(&slave).map_or(true, |bytes| bytes == 0);
            empty_looks = if empty { empty_looks + 1 } else { 0 };
        }
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
    name: String,
    /// The terminal of now, where it stands for a USB serial port.
    terminal: Arc<Mutex<Option<File>>>,
    outgoing: Sender<Message>,
    incoming: Receiver<Vec<u8>>,
}

impl Serial {
    /// What pyserial opens: `/dev/pts/3` or `socket://127.0.0.1:41002`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The rate that a program has set on the port, in baud. `None` if none has, or it is no port
    /// that has a rate.
    pub fn host_baud(&self) -> Option<u64> {
        let terminal = self.terminal.lock().unwrap_or_else(PoisonError::into_inner);
        let rate = tcgetattr(terminal.as_ref()?).ok()?.output_speed();
        (rate != UNSET_BAUD).then_some(u64::from(rate))
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
        terminal: Arc::default(),
        outgoing,
        incoming,
    })
}

/// A pseudo-terminal that behaves as a USB serial port: only what is sent while a program has it
/// open arrives. The socket is where it is plugged in.
pub fn open_while_read(events: Sender<Event>) -> Result<(Serial, Socket)> {
    let (outgoing, messages) = mpsc::channel();
    let (received, incoming) = mpsc::sync_channel(CHUNKS_AHEAD);
    let mut socket = Socket {
        outgoing: outgoing.clone(),
        received,
        hung_up: Arc::default(),
        terminal: Arc::default(),
    };
    let name = socket.open()?;
    thread::spawn(move || {
        hand_over(&messages);
        let _ = events.send(Event::UartEnded);
    });
    let serial = Serial {
        name,
        terminal: socket.terminal.clone(),
        outgoing,
        incoming,
    };
    Ok((serial, socket))
}

/// Where a USB serial port is plugged in.
pub struct Socket {
    outgoing: Sender<Message>,
    received: SyncSender<Vec<u8>>,
    /// The terminal of now is to be closed.
    hung_up: Arc<AtomicBool>,
    /// The terminal of now.
    terminal: Arc<Mutex<Option<File>>>,
}

impl Socket {
    /// Unplugs the port and plugs it in again. The program that has it open is told, as by a
    /// terminal that hangs up. Returns the path of the new one.
    pub fn replug(&mut self) -> Result<String> {
        self.hung_up.store(true, Ordering::Relaxed);
        self.open()
    }

    fn open(&mut self) -> Result<String> {
        let (master, _slave, name) = raw_terminal().context("cannot open a pseudo-terminal")?;
        let mut reader = master
            .try_clone()
            .context("cannot open a pseudo-terminal")?;
        let rated = master
            .try_clone()
            .context("cannot open a pseudo-terminal")?;
        *self.terminal.lock().unwrap_or_else(PoisonError::into_inner) = Some(rated);
        let port = Box::new(PortWhileRead {
            master,
            name: name.clone(),
        });
        // The port before it is closed with that. The receiver lives as long as the process.
        let _ = self.outgoing.send(Message::Reader(port));
        self.hung_up = Arc::default();
        let (hung_up, received) = (self.hung_up.clone(), self.received.clone());
        thread::spawn(move || {
            while !hung_up.load(Ordering::Relaxed) {
                // No program has it open any more. What the last one did not read is gone with it. It is
                // thrown away only then: a program may open the port at any time, and be sent to.
                if receive_until(&mut reader, &received, &hung_up) {
                    let _ = tcflush(&reader, QueueSelector::OFlush);
                }
                thread::sleep(REOPEN_PERIOD);
            }
        });
        Ok(name)
    }
}

/// [`receive`], also until the port is hung up. True if a program had it open.
fn receive_until(source: &mut File, received: &SyncSender<Vec<u8>>, hung_up: &AtomicBool) -> bool {
    let mut buffer = [0; 4096];
    let mut was_open = false;
    while !hung_up.load(Ordering::Relaxed) {
        let period = Timespec {
            tv_sec: 0,
            tv_nsec: LOOK_PERIOD_OF_PORT.as_nanos() as _,
        };
        let mut asked = [PollFd::new(source, PollFlags::IN)];
        let arrived = poll(&mut asked, Some(&period)).is_ok_and(|count| count > 0);
        if !arrived {
            was_open = true;
            continue;
        }
        match source.read(&mut buffer) {
            Ok(count @ 1..) if received.send(buffer[..count].to_vec()).is_ok() => was_open = true,
            _ => break,
        }
    }
    was_open
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
