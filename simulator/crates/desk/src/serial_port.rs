//! The ST-Link's serial port: a pseudo-terminal that behaves as a USB serial port. Only what is sent
//! while a program has it open arrives.

use anyhow::{Context, Result};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;
use rustix::termios::{tcflush, tcgetattr, QueueSelector};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use virtual_nucleo::servers::uart::{raw_terminal, wait_until_read, Host, Reader};

/// A terminal's rate before anybody sets it (tty_std_termios in the kernel).
const UNSET_BAUD: u32 = 38_400;

/// A program that does not read its port is not waited for beyond this.
const LONGEST_FINISH: Duration = Duration::from_secs(2);

/// How soon a program learns that its port is unplugged.
const LOOK_PERIOD: Duration = Duration::from_millis(20);

/// How often a port that nobody has open is looked at.
const REOPEN_PERIOD: Duration = Duration::from_millis(10);

/// The master of the terminal.
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
        if let Ok(slave) = slave {
            wait_until_read(&slave, LONGEST_FINISH);
        }
    }
}

/// The terminal of now.
#[derive(Clone, Default)]
pub struct Terminal(Arc<Mutex<Option<File>>>);

impl Terminal {
    /// The rate that a program has set on the port, in baud. `None` if none has.
    pub fn baud(&self) -> Option<u64> {
        let terminal = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rate = tcgetattr(terminal.as_ref()?).ok()?.output_speed();
        (rate != UNSET_BAUD).then_some(u64::from(rate))
    }
}

/// Where the port is plugged in.
pub struct Socket {
    host: Host,
    /// The terminal of now is to be closed.
    hung_up: Arc<AtomicBool>,
    pub terminal: Terminal,
}

impl Socket {
    pub fn new(host: Host) -> Socket {
        Socket {
            host,
            hung_up: Arc::default(),
            terminal: Terminal::default(),
        }
    }

    /// Unplugs the port, if it is plugged in, and plugs it in again. The program that has it open is
    /// told, as by a terminal that hangs up. Returns the path of the new one.
    pub fn replug(&mut self) -> Result<String> {
        self.hung_up.store(true, Ordering::Relaxed);
        let (master, _slave, name) = raw_terminal().context("cannot open a pseudo-terminal")?;
        let (mut reader, rated) = (master.try_clone()?, master.try_clone()?);
        *self
            .terminal
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(rated);
        // The port before it is closed with that.
        self.host.read_by(PortWhileRead {
            master,
            name: name.clone(),
        });
        self.hung_up = Arc::default();
        let (hung_up, received) = (self.hung_up.clone(), self.host.received.clone());
        thread::spawn(move || {
            while !hung_up.load(Ordering::Relaxed) {
                // No program has it open any more. What the last one did not read is gone with it. It is
                // thrown away only then: a program may open the port at any time, and be sent to.
                if receive(&mut reader, &received, &hung_up) {
                    let _ = tcflush(&reader, QueueSelector::OFlush);
                }
                thread::sleep(REOPEN_PERIOD);
            }
        });
        Ok(name)
    }
}

/// Passes on what the host sends, until it closes the port, or the port is hung up. True if a program
/// had it open.
fn receive(source: &mut File, received: &SyncSender<Vec<u8>>, hung_up: &AtomicBool) -> bool {
    let mut buffer = [0; 4096];
    let mut was_open = false;
    while !hung_up.load(Ordering::Relaxed) {
        let period = Timespec {
            tv_sec: 0,
            tv_nsec: LOOK_PERIOD.as_nanos() as _,
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
