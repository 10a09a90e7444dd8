//! An ST-Link V2-1, the debug probe on a Nucleo: its USB device with the debug interface and the
//! serial port. From what its drivers publish: pyOCD 0.46 (`probe/stlink`) and OpenOCD
//! (`src/jtag/drivers/stlink_usb.c`). Nothing was compared with a real one.

mod descriptors;
mod interpreter;
mod memory;
mod status;

pub use descriptors::Serial;

use super::usb::{Descriptors, Device, Fault, Setup};
use interpreter::{Command, Interpreter};
use machine::debug_port::Target;

/// STMicroelectronics' ST-Link V2-1.
pub const VENDOR: u16 = 0x0483;
pub const PRODUCT: u16 = 0x374B;

const PACKET_BYTES: usize = 64;
const COMMAND_ENDPOINT: u8 = 0x01;
const ANSWER_ENDPOINT: u8 = 0x81;

/// Whether it can come back as this: a port's name as the kernel gives it, or a USB id of ST.
pub fn may_be_called(name: &str) -> bool {
    let digits = name.strip_prefix("ttyACM");
    let is_port = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    digits.is_some_and(is_port) || product_of(name).is_some()
}

/// The product of `0483:3752`, a USB id of ST.
pub fn product_of(name: &str) -> Option<u16> {
    let product = name.strip_prefix(&format!("{VENDOR:04x}:"))?;
    u16::from_str_radix(product, 16).ok()
}

pub struct StLink<T: Target> {
    descriptors: Descriptors,
    interpreter: Interpreter<T>,
    serial: Serial,
    /// A command that waits for the rest of its data.
    awaiting: Option<(Command, Vec<u8>)>,
    /// What the host has not read yet.
    answer: Option<Vec<u8>>,
}

impl<T: Target> StLink<T> {
    pub fn new(target: T, serial: Serial) -> StLink<T> {
        StLink {
            descriptors: descriptors::of(&serial, PRODUCT),
            serial,
            interpreter: Interpreter::new(target),
            awaiting: None,
            answer: None,
        }
    }

    fn take(&mut self, data: &[u8]) {
        let (command, data) = match self.awaiting.take() {
            Some((command, mut gathered)) => {
                gathered.extend(data);
                (command, gathered)
            }
            None => {
                self.answer = None; // a new command drops an answer that nobody read
                (Command::new(data), Vec::new())
            }
        };
        let Some(data) = data.get(..command.data_bytes()) else {
            self.awaiting = Some((command, data));
            return;
        };
        let answer = self.interpreter.execute(command, data);
        self.answer = (!answer.is_empty()).then_some(answer);
    }
}

impl<T: Target + Send> Device for StLink<T> {
    fn descriptors(&self) -> &Descriptors {
        &self.descriptors
    }

    /// The firmware of another probe of ST: the same interfaces under its id.
    fn set_product(&mut self, product: u16) {
        self.descriptors = descriptors::of(&self.serial, product);
        self.interpreter.product = product;
    }

    /// The serial port's settings are taken and mean nothing: a pseudo-terminal has no baud rate.
    fn control(&mut self, setup: Setup, _data: &[u8]) -> Result<Vec<u8>, Fault> {
        descriptors::is_serial_setting(&setup)
            .then(Vec::new)
            .ok_or(Fault::Stall)
    }

    fn bulk_out(&mut self, endpoint: u8, data: &[u8]) -> Result<(), Fault> {
        if endpoint != COMMAND_ENDPOINT {
            return Err(Fault::Stall);
        }
        if !data.is_empty() {
            self.take(data);
        }
        Ok(())
    }

    fn bulk_in(&mut self, endpoint: u8, most: usize) -> Result<Option<Vec<u8>>, Fault> {
        if endpoint != ANSWER_ENDPOINT {
            return Ok(None);
        }
        let Some(answer) = &mut self.answer else {
            return Ok(None);
        };
        if answer.len() <= most {
            return Ok(self.answer.take());
        }
        if most % PACKET_BYTES != 0 {
            return Err(Fault::Overflow);
        }
        Ok(Some(answer.drain(..most).collect())) // whole packets; the next transfer goes on
    }

    /// Half a command of a program that died is forgotten, and the debug mode left. A real probe
    /// would keep both.
    fn release(&mut self) {
        self.interpreter.leave();
        self.awaiting = None;
        self.answer = None;
    }
}

#[cfg(test)]
mod tests;
