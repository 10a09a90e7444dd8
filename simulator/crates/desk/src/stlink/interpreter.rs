//! Carries out commands on the target and makes their answers.

use super::command::{Block, Command, DapRegister, ResetDrive};
use super::memory;
use super::status::Status;
use super::{PRODUCT, VENDOR};
use cortex_m::bus::Width;
use machine::debug_port::{Request, Target};

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
const AP_IDR: u8 = 0xFC;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    MassStorage = 1,
    Debug = 2,
}

pub struct Interpreter<T: Target> {
    target: T,
    product: u16,
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

    pub fn set_product(&mut self, product: u16) {
        self.product = product;
    }

    /// Carries out a command with the data that followed it. Empty: the command has no answer.
    pub fn execute(&mut self, command: Command, data: &[u8]) -> Vec<u8> {
        self.try_execute(command, data)
            .unwrap_or_else(|status| refusal(command, status))
    }

    fn try_execute(&mut self, command: Command, data: &[u8]) -> Result<Vec<u8>, Status> {
        let done = Status::Ok.bytes().to_vec();
        Ok(match command {
            Command::Version => version(self.product),
            Command::Mode => vec![self.mode as u8, 0],
            Command::Voltage => words([REFERENCE_READS, HALF_SUPPLY_READS]),
            Command::LeaveOther => vec![],
            Command::EnterDebug => self.enter().map(|()| done)?,
            Command::LeaveDebug => {
                self.leave();
                vec![]
            }
            Command::SetFrequency | Command::StopTrace => done,
            Command::StartTrace => return Err(Status::NoTrace),
            Command::TraceBytes => vec![0, 0],
            Command::BoardIdentifiers => identifiers(),
            Command::LastTransfer { bytes } => self.last_transfer(bytes),
            Command::DriveReset(drive) => self.drive_reset(drive).map(|()| done)?,
            Command::ReadMemory(block) => self.read_memory(&block),
            Command::WriteMemory(block) => self.write_memory(&block, data),
            _ if self.mode != Mode::Debug => return Err(Status::CommandError),
            Command::ReadIdcodes => valued([self.read_debug_port(DPIDR)?, 0]),
            Command::ResetCore => self.write_word(AIRCR, SYSRESETREQ).map(|()| done)?,
            Command::ReadRegister(number) => valued([self.read_register(number)?]),
            Command::WriteRegister(number, value) => {
                self.write_register(number, value).map(|()| done)?
            }
            Command::ReadAllRegisters => self.read_all_registers()?,
            Command::ReadWord(address) => valued([self.read_word(address)?]),
            Command::WriteWord(address, value) => self.write_word(address, value).map(|()| done)?,
            Command::ReadDap(register) => valued([self.read_dap(register)?]),
            Command::WriteDap(register, value) => self.write_dap(register, value).map(|()| done)?,
            Command::OpenAp(port) => self.open_ap(port).map(|()| done)?,
            Command::CloseAp(port) => self.close_ap(port).map(|()| done)?,
        })
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

    fn drive_reset(&mut self, drive: ResetDrive) -> Result<(), Status> {
        self.target.ask(match drive {
            ResetDrive::Low => Request::HoldReset(true),
            ResetDrive::High => Request::HoldReset(false),
            ResetDrive::Pulse => Request::Reset,
        })?;
        Ok(())
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

    fn write_memory(&mut self, block: &Block, data: &[u8]) -> Vec<u8> {
        self.transfer(block, |target| memory::write(target, block, data));
        vec![]
    }

    /// One transfer of memory. Its status waits until it is asked for.
    fn transfer<V>(
        &mut self,
        block: &Block,
        carry_out: impl FnOnce(&mut dyn Target) -> Result<V, machine::debug_port::Failure>,
    ) -> Option<V> {
        let possible = if self.mode == Mode::Debug {
            block.check()
        } else {
            Err(Status::CommandError)
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

    fn read_all_registers(&mut self) -> Result<Vec<u8>, Status> {
        let values = REGISTERS
            .chain([SPECIAL_REGISTERS])
            .map(|number| self.read_register(number))
            .collect::<Result<Vec<u32>, Status>>()?;
        Ok(valued(values.into_iter().chain([0])))
    }

    fn read_register(&mut self, number: u8) -> Result<u32, Status> {
        self.write_word(DCRSR, number.into())?;
        self.read_word(DCRDR)
    }

    fn write_register(&mut self, number: u8, value: u32) -> Result<(), Status> {
        self.write_word(DCRDR, value)?;
        self.write_word(DCRSR, u32::from(number) | DCRSR_WRITE)
    }

    fn read_word(&mut self, address: u32) -> Result<u32, Status> {
        let block = word_at(address)?;
        let bytes = memory::read(&mut self.target, &block)?;
        Ok(bytes
            .iter()
            .rev()
            .fold(0, |word, &byte| word << 8 | u32::from(byte)))
    }

    fn write_word(&mut self, address: u32, value: u32) -> Result<(), Status> {
        memory::write(&mut self.target, &word_at(address)?, &value.to_le_bytes())?;
        Ok(())
    }

    fn read_dap(&mut self, register: DapRegister) -> Result<u32, Status> {
        match register {
            DapRegister::Debug(register) => self.read_debug_port(register.into()),
            DapRegister::Access { port, register } => {
                let register = u32::from(port) << 24 | u32::from(register);
                let request = Request::ReadAccessPort { register, count: 1 };
                self.read(request)
            }
        }
    }

    fn write_dap(&mut self, register: DapRegister, value: u32) -> Result<(), Status> {
        match register {
            DapRegister::Debug(register) => self.write_debug_port(register.into(), value),
            DapRegister::Access { port, register } => {
                let register = u32::from(port) << 24 | u32::from(register);
                let values = vec![value];
                self.target
                    .ask(Request::WriteAccessPort { register, values })?;
                Ok(())
            }
        }
    }

    fn read_debug_port(&mut self, register: u32) -> Result<u32, Status> {
        self.read(Request::ReadDebugPort { register })
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

    /// An access port that is not there has no identification.
    fn open_ap(&mut self, port: u8) -> Result<(), Status> {
        let register = AP_IDR;
        match self.read_dap(DapRegister::Access { port, register })? {
            0 => Err(Status::NoSuchAp),
            _ => {
                self.open_ap = true;
                Ok(())
            }
        }
    }

    fn close_ap(&mut self, port: u8) -> Result<(), Status> {
        let was_open = port == 0 && self.open_ap;
        self.open_ap &= !was_open;
        was_open.then_some(()).ok_or(Status::NoSuchAp)
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

fn version(product: u16) -> Vec<u8> {
    let mut answer = VERSION.to_be_bytes().to_vec();
    answer.extend(VENDOR.to_le_bytes());
    answer.extend(product.to_le_bytes());
    answer
}

fn identifiers() -> Vec<u8> {
    let mut answer = Status::Ok.bytes().to_vec();
    answer.extend(BOARD);
    answer.resize(IDENTIFIERS_BYTES, 0);
    answer
}

fn words(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Status, two bytes of padding, and values.
fn valued(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words([u32::from(Status::Ok as u8)].into_iter().chain(values))
}

/// The answer of a command that was not carried out: as long as the other, since the host waits for
/// all of it.
fn refusal(command: Command, status: Status) -> Vec<u8> {
    let length = match command {
        Command::ReadIdcodes => 12,
        Command::ReadRegister(_) | Command::ReadWord(_) | Command::ReadDap(_) => 8,
        Command::ReadAllRegisters => 88,
        _ => 2,
    };
    let mut answer = status.bytes().to_vec();
    answer.resize(length, 0);
    answer
}

#[cfg(test)]
impl<T: Target> Interpreter<T> {
    pub fn target(&self) -> &T {
        &self.target
    }
}
