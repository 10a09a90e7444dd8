//! Commands, what they do to the target, and their answers. Codes as pyOCD
//! (`probe/stlink/constants.py`, `stlink.py`) and OpenOCD (`stlink_usb.c`) publish them.

use super::memory::{self, Block};
use super::status::Status;
use super::{PRODUCT, VENDOR};
use cortex_m::bus::Width;
use machine::debug_port::{Failure, Request, Target};

pub const BLOCK_BYTES: usize = 16;

/// V2J37M26. pyOCD asks from J36 on for the board's identifier and looks for no disk; OpenOCD takes
/// M7 to M12 for firmware that speaks SWIM alone.
const VERSION: u16 = 2 << 12 | 37 << 6 | 26;
/// What the two converted inputs read: the 1.2 V reference and half the target's supply, of 3.3 V
/// with 12 bits.
const REFERENCE_READS: u32 = 1489;
const HALF_SUPPLY_READS: u32 = 2048;
/// The Nucleo-F401RE's identifier with Mbed.
const BOARD: &[u8; 4] = b"0720";
const IDENTIFIERS_BYTES: usize = 128;

/// Debug port registers (IHI 0031, B2).
const DPIDR: u32 = 0x0;
const ABORT: u32 = 0x0;
const CLEAR_ERRORS: u32 = 0x1E;
const CTRL_STAT: u32 = 0x4;
const POWER_UP: u32 = 1 << 28 | 1 << 30;
const AP_IDR: u32 = 0xFC;

/// Core debug registers (DDI 0403, C1.6).
const DCRSR: u32 = 0xE000_EDF4;
const DCRDR: u32 = 0xE000_EDF8;
const DCRSR_WRITE: u32 = 1 << 16;
const CPUID: u32 = 0xE000_ED00;
const AIRCR: u32 = 0xE000_ED0C;
const SYSRESETREQ: u32 = 0x05FA_0004;
/// R0 to R15, xPSR, MSP, PSP.
const REGISTERS: std::ops::Range<u8> = 0..19;
/// CONTROL, FAULTMASK, BASEPRI and PRIMASK.
const SPECIAL_REGISTERS: u8 = 20;

/// A command block, whose first two bytes say what is asked for.
#[derive(Clone, Copy)]
pub struct Command([u8; BLOCK_BYTES]);

impl Command {
    /// A shorter block means zeros at its end.
    pub fn new(bytes: &[u8]) -> Command {
        let mut block = [0; BLOCK_BYTES];
        let given = bytes.len().min(BLOCK_BYTES);
        block[..given].copy_from_slice(&bytes[..given]);
        Command(block)
    }

    /// Bytes that the host sends after the command.
    pub fn data_bytes(&self) -> usize {
        match self.0[..2] {
            [0xF2, 0x08 | 0x0D | 0x48 | 0x50] => self.half(6).into(),
            _ => 0,
        }
    }

    /// The memory that it reads or writes.
    fn memory(&self, width: Width, fixed: bool) -> Block {
        Block {
            address: self.word(2),
            bytes: self.half(6),
            width,
            port: self.0[8],
            csw: self.word(8) & 0xFFFF_FF00,
            fixed,
        }
    }

    /// Whether it means the debug port, and the register: with the bank in bits 7:4, or with the
    /// access port in bits 31:24.
    fn port_register(&self) -> Result<(bool, u32), Status> {
        let register = u8::try_from(self.half(4)).map_err(|_| Status::CommandError)?;
        match self.half(2) {
            0xFFFF => Ok((true, register.into())),
            port @ 0..=0xFF => Ok((false, u32::from(port) << 24 | u32::from(register))),
            _ => Err(Status::NoSuchAp),
        }
    }

    fn half(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.0[at], self.0[at + 1]])
    }

    fn word(&self, at: usize) -> u32 {
        u32::from(self.half(at)) | u32::from(self.half(at + 2)) << 16
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    MassStorage = 1,
    Debug = 2,
}

pub struct Interpreter<T: Target> {
    pub target: T,
    pub product: u16,
    mode: Mode,
    open_ap: bool,
    /// The status of the last transfer of memory, and where it failed.
    last_transfer: (Status, u32),
}

impl<T: Target> Interpreter<T> {
    pub fn new(target: T) -> Interpreter<T> {
        Interpreter {
            target,
            product: PRODUCT,
            mode: Mode::MassStorage,
            open_ap: false,
            last_transfer: (Status::Ok, 0),
        }
    }

    /// Carries out a command with the data that followed it. Empty: the command has no answer. The
    /// answer of one that was not carried out is as long as the other, since the host waits for all
    /// of it.
    pub fn execute(&mut self, command: Command, data: &[u8]) -> Vec<u8> {
        self.try_execute(command, data).unwrap_or_else(|status| {
            let mut answer = status.bytes().to_vec();
            let length = match command.0[..2] {
                [0xF2, 0x31] => 12,
                [0xF2, 0x33 | 0x36 | 0x45] => 8,
                [0xF2, 0x3A] => 88,
                _ => 2,
            };
            answer.resize(length, 0);
            answer
        })
    }

    fn try_execute(&mut self, command: Command, data: &[u8]) -> Result<Vec<u8>, Status> {
        let argument = command.0[2];
        let code = match command.0[..2] {
            [0xF1, _] => {
                let [vendor, product] = [VENDOR, self.product].map(u16::to_le_bytes);
                return Ok([VERSION.to_be_bytes(), vendor, product].concat());
            }
            [0xF5, _] => return Ok(vec![self.mode as u8, 0]),
            [0xF7, _] => return Ok(words([REFERENCE_READS, HALF_SUPPLY_READS])),
            // Leaves the firmware update mode or SWIM. There is no answer.
            [0xF3, 0x07] | [0xF4, 0x01] => return Ok(vec![]),
            [0xF2, code] => code,
            _ => return Err(Status::UnknownCommand),
        };
        if let Some((width, fixed)) = match code {
            0x0C | 0x0D => Some((Width::Byte, false)),
            0x47 | 0x48 => Some((Width::Half, false)),
            0x07 | 0x08 => Some((Width::Word, false)),
            0x50 | 0x54 => Some((Width::Word, true)),
            _ => None,
        } {
            let block = command.memory(width, fixed);
            return Ok(match code {
                0x07 | 0x0C | 0x47 | 0x54 => self.read_memory(&block),
                _ => {
                    self.transfer(&block, |target| memory::write(target, &block, data));
                    vec![]
                }
            });
        }
        match code {
            // What debugs, and is no transfer of memory.
            0x31..=0x36 | 0x3A | 0x45 | 0x46 | 0x4B | 0x4C if self.mode != Mode::Debug => {
                return Err(Status::CommandError);
            }
            0x21 => {
                self.leave();
                return Ok(vec![]);
            }
            // Only SWD is wired.
            0x30 if argument == 0xA3 => self.enter()?,
            0x31 => return Ok(valued([self.read_debug_port(DPIDR)?, 0])),
            0x32 => self.write_word(AIRCR, SYSRESETREQ)?,
            0x33 => return Ok(valued([self.read_register(argument)?])),
            0x34 => {
                self.write_word(DCRDR, command.word(3))?;
                self.write_word(DCRSR, u32::from(argument) | DCRSR_WRITE)?;
            }
            0x35 => self.write_word(command.word(2), command.word(6))?,
            0x36 => return Ok(valued([self.read_word(command.word(2))?])),
            0x3A => {
                let numbers = REGISTERS.chain([SPECIAL_REGISTERS]);
                let values = numbers.map(|number| self.read_register(number));
                let values = values.collect::<Result<Vec<u32>, Status>>()?;
                return Ok(valued(values.into_iter().chain([0])));
            }
            0x3B => return Ok(self.last_transfer(2)),
            0x3E => return Ok(self.last_transfer(12)),
            0x3C => {
                self.target.ask(match argument {
                    0 => Request::HoldReset(true),
                    1 => Request::HoldReset(false),
                    2 => Request::Reset,
                    _ => return Err(Status::CommandError),
                })?;
            }
            0x40 => return Err(Status::NoTrace),
            0x42 => return Ok(vec![0, 0]), // bytes of the trace
            0x41 | 0x43 | 0x44 => {}       // the trace ends, a frequency is set
            0x45 => {
                let value = match command.port_register()? {
                    (true, register) => self.read_debug_port(register)?,
                    (false, register) => self.read_access_port(register)?,
                };
                return Ok(valued([value]));
            }
            0x46 => {
                let value = command.word(6);
                match command.port_register()? {
                    (true, register) => self.write_debug_port(register, value)?,
                    (false, register) => {
                        let values = vec![value];
                        let request = Request::WriteAccessPort { register, values };
                        self.target.ask(request)?;
                    }
                }
            }
            0x4B => {
                // An access port that is not there has no identification.
                let register = u32::from(argument) << 24 | AP_IDR;
                if self.read_access_port(register)? == 0 {
                    return Err(Status::NoSuchAp);
                }
                self.open_ap = true;
            }
            0x4C => {
                if argument != 0 || !std::mem::take(&mut self.open_ap) {
                    return Err(Status::NoSuchAp);
                }
            }
            0x56 => {
                let mut answer = [&Status::Ok.bytes()[..], BOARD].concat();
                answer.resize(IDENTIFIERS_BYTES, 0);
                return Ok(answer);
            }
            0x30 => return Err(Status::CommandError),
            _ => return Err(Status::UnknownCommand),
        }
        Ok(Status::Ok.bytes().to_vec())
    }

    /// Finds the debug port, powers it up and clears its errors. Where the core then does not answer
    /// it did not enter: OpenOCD's users see "init mode failed" of a core that sleeps.
    fn enter(&mut self) -> Result<(), Status> {
        self.read_debug_port(DPIDR).map_err(|_| Status::NoIdcode)?;
        self.write_debug_port(ABORT, CLEAR_ERRORS)?;
        self.write_debug_port(CTRL_STAT, POWER_UP)?;
        if self.read_word(CPUID) == Err(Status::ApWait) {
            return Err(Status::NoIdcode);
        }
        self.mode = Mode::Debug;
        Ok(())
    }

    /// Lets go of the target, also for a program that ended without a word.
    pub fn leave(&mut self) {
        self.mode = Mode::MassStorage;
        self.open_ap = false;
        let _ = self.target.ask(Request::Leave); // it is never refused
    }

    /// As many bytes as were asked for, also if the transfer failed.
    fn read_memory(&mut self, block: &Block) -> Vec<u8> {
        let length = usize::from(block.bytes);
        let mut bytes = self
            .transfer(block, |target| memory::read(target, block))
            .unwrap_or_default();
        // One byte is sent as two. OpenOCD reads two, and pyOCD takes the first.
        bytes.resize(length.max(2), 0);
        bytes
    }

    /// One transfer of memory. Its status waits until it is asked for.
    fn transfer<V>(
        &mut self,
        block: &Block,
        carry_out: impl FnOnce(&mut dyn Target) -> Result<V, Failure>,
    ) -> Option<V> {
        let possible = match self.mode {
            Mode::Debug => block.check(),
            Mode::MassStorage => Err(Status::CommandError),
        };
        let outcome = possible.and_then(|()| carry_out(&mut self.target).map_err(Status::from));
        self.last_transfer = match outcome {
            Ok(_) => (Status::Ok, 0),
            Err(status @ Status::ApFault) => {
                (status, memory::fault_address(&mut self.target, block))
            }
            Err(status) => (status, block.address),
        };
        outcome.ok()
    }

    fn last_transfer(&self, bytes: usize) -> Vec<u8> {
        let (status, address) = self.last_transfer;
        let mut answer = words([status as u32, address, 0]);
        answer.truncate(bytes);
        answer
    }

    fn read_register(&mut self, number: u8) -> Result<u32, Status> {
        self.write_word(DCRSR, number.into())?;
        self.read_word(DCRDR)
    }

    fn read_word(&mut self, address: u32) -> Result<u32, Status> {
        let bytes = memory::read(&mut self.target, &word_at(address)?)?;
        let low_first = bytes.iter().rev();
        Ok(low_first.fold(0, |word, &byte| word << 8 | u32::from(byte)))
    }

    fn write_word(&mut self, address: u32, value: u32) -> Result<(), Status> {
        memory::write(&mut self.target, &word_at(address)?, &value.to_le_bytes())?;
        Ok(())
    }

    fn read_debug_port(&mut self, register: u32) -> Result<u32, Status> {
        self.read(Request::ReadDebugPort { register })
    }

    fn read_access_port(&mut self, register: u32) -> Result<u32, Status> {
        self.read(Request::ReadAccessPort { register, count: 1 })
    }

    fn write_debug_port(&mut self, register: u32, value: u32) -> Result<(), Status> {
        self.target
            .ask(Request::WriteDebugPort { register, value })?;
        Ok(())
    }

    fn read(&mut self, request: Request) -> Result<u32, Status> {
        let values = self.target.ask(request)?.values();
        values.first().copied().ok_or(Status::DpError)
    }
}

fn word_at(address: u32) -> Result<Block, Status> {
    let block = Block {
        address,
        bytes: 4,
        width: Width::Word,
        port: 0,
        csw: 0,
        fixed: false,
    };
    block.check().map(|()| block)
}

fn words(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Status, two bytes of padding, and values.
fn valued(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words([u32::from(Status::Ok as u8)].into_iter().chain(values))
}
