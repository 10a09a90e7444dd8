//! A program's device node, as umockdev's preload library forwards it: each `ioctl()` becomes a
//! request on a Unix socket, and this side may read and write the program's memory until it answers
//! (umockdev, `src/libumockdev-preload.c` and `docs`; a message is three native 64-bit words).

use rustix::io::Errno;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

const REQUEST_IOCTL: u64 = 1;
const REQUEST_READ: u64 = 7;
const ANSWER_DONE: u64 = 3;
const ANSWER_READ_MEMORY: u64 = 5;
const ANSWER_WRITE_MEMORY: u64 = 6;

/// The library then makes the real call.
const REAL_CALL: i64 = -100;

/// More is no USB transfer's size (usbfs's own limit is 16 MiB).
const MOST_BYTES: usize = 16 << 20;

/// What an `ioctl()` does: its result, or its errno.
pub type Outcome = Result<i64, Errno>;

/// A request of the program.
pub enum Request {
    /// `ioctl(fd, request, argument)`
    Ioctl { request: u32, argument: u64 },
    /// `read(fd, buffer, length)`
    Read { buffer: u64, length: usize },
    /// `write()`
    Other,
}

pub struct Client {
    socket: UnixStream,
}

impl Client {
    pub fn new(socket: UnixStream) -> Client {
        Client { socket }
    }

    /// The next request. None when the program has closed its descriptor.
    pub fn next(&mut self) -> Option<Request> {
        let mut message = [0; 24];
        self.socket.read_exact(&mut message).ok()?;
        let word = |index: usize| {
            u64::from_ne_bytes(std::array::from_fn(|byte| message[index * 8 + byte]))
        };
        Some(match word(0) {
            REQUEST_IOCTL => Request::Ioctl {
                request: word(1) as u32,
                argument: word(2),
            },
            REQUEST_READ => Request::Read {
                buffer: word(1),
                length: word(2) as usize,
            },
            _ => Request::Other,
        })
    }

    /// Reads the program's memory.
    pub fn read(&mut self, address: u64, length: usize) -> io::Result<Vec<u8>> {
        if length > MOST_BYTES {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut data = vec![0; length];
        if length > 0 {
            self.say(ANSWER_READ_MEMORY, address, length as u64)?;
            self.socket.read_exact(&mut data)?;
        }
        Ok(data)
    }

    /// Writes the program's memory.
    pub fn write(&mut self, address: u64, data: &[u8]) -> io::Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        self.say(ANSWER_WRITE_MEMORY, address, data.len() as u64)?;
        self.socket.write_all(data)
    }

    /// Ends the request: the program's call returns.
    pub fn done(&mut self, outcome: Outcome) -> io::Result<()> {
        let (result, errno) = match outcome {
            Ok(result) => (result, 0),
            Err(errno) => (-1, errno.raw_os_error()),
        };
        self.say(ANSWER_DONE, result as u64, errno as u64)
    }

    /// Ends the request: the library asks the kernel instead.
    pub fn make_real_call(&mut self) -> io::Result<()> {
        self.say(ANSWER_DONE, REAL_CALL as u64, 0)
    }

    fn say(&mut self, command: u64, first: u64, second: u64) -> io::Result<()> {
        let words = [command, first, second].map(u64::to_ne_bytes);
        self.socket.write_all(&words.concat())
    }
}
