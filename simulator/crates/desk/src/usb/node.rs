//! The file that stands for a device node. A program polls it for POLLOUT, which in usbfs means
//! that a transfer can be reaped.
//!
//! It is a FIFO that holds one page: with a byte in it, it is full and not writable. A terminal
//! would do as well (its output can be stopped), but libusb opens nodes without O_NOCTTY, and a
//! session leader would take the terminal as its own and die of its hang-up.

use anyhow::{Context, Result};
use rustix::fs::{mknodat, FileType, Mode, CWD};
use rustix::pipe::fcntl_setpipe_size;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The smallest FIFO.
const PAGE_BYTES: usize = 4096;

pub struct Node {
    path: PathBuf,
    fifo: File,
    writable: bool,
}

impl Node {
    /// Makes the file, which is not writable at first.
    pub fn create(path: &Path) -> Result<Node> {
        let fifo = fifo(path).with_context(|| format!("cannot make {}", path.display()))?;
        let mut node = Node {
            path: path.to_owned(),
            fifo,
            writable: true,
        };
        node.set_writable(false);
        Ok(node)
    }

    pub fn set_writable(&mut self, writable: bool) {
        if writable == self.writable {
            return;
        }
        // Neither blocks: the FIFO holds the one byte, or none. A program that writes to the node
        // itself only delays its own wake-up.
        let _ = match writable {
            true => self.fifo.read(&mut [0; PAGE_BYTES]),
            false => self.fifo.write(&[0]),
        };
        self.writable = writable;
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn fifo(path: &Path) -> std::io::Result<File> {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0)?;
    let fifo = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32)
        .open(path)?;
    fcntl_setpipe_size(&fifo, PAGE_BYTES)?;
    Ok(fifo)
}
