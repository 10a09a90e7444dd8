//! The serial-wire debug port and its AHB access port (IHI 0031, B2 and C2; STM32F401: RM0368,
//! 23.8).

use super::request::{Answer, Failure, Request};
use crate::Machine;
use cortex_m::bus::Width;
use cortex_m::{CoreKind, DebugFault};

/// Debug port registers. CTRL/STAT is bank 0 of address 4.
const DPIDR: u32 = 0x0;
const CTRL_STAT: u32 = 0x4;
const SELECT: u32 = 0x8;
const RDBUFF: u32 = 0xC;
const ABORT: u32 = 0x0;
const STICKY_ERROR: u32 = 1 << 5;
const ABORT_CLEARS_STICKY_ERROR: u32 = 1 << 2;
/// CDBGPWRUPREQ and CSYSPWRUPREQ. The bit above each one acknowledges it.
const POWER_REQUESTS: u32 = 1 << 28 | 1 << 30;
/// Requests, TRNMODE, MASKLANE, ORUNDETECT.
const CTRL_WRITABLE: u32 = POWER_REQUESTS | 0x0000_0F0D;
const BANK: u32 = 0xF;

/// AHB access port registers (IHI 0031, C2.6).
const CSW: u32 = 0x00;
const TAR: u32 = 0x04;
const DRW: u32 = 0x0C;
const BANKED_DATA: std::ops::RangeInclusive<u32> = 0x10..=0x1C;
const CFG: u32 = 0xF4;
const BASE: u32 = 0xF8;
const IDR: u32 = 0xFC;
/// CSW after power-up: DeviceEn, HPROT1, word size. Debuggers write Prot and the increment.
const CSW_RESET: u32 = 0x2300_0052;
const CSW_WRITABLE: u32 = 0x3F00_0037;
const CSW_DEVICE_ENABLED: u32 = 1 << 6;
const BASE_VALUE: u32 = 0xE00F_F003;
/// TAR is incremented within 1 KiB (IHI 0031, C2.2.2).
const INCREMENT_WRAP: u32 = 0x400;

pub struct DebugPort {
    control: u32,
    select: u32,
    sticky_error: bool,
    read_buffer: u32,
    csw: u32,
    tar: u32,
    reset_held: bool,
}

impl Default for DebugPort {
    fn default() -> DebugPort {
        DebugPort {
            control: 0,
            select: 0,
            sticky_error: false,
            read_buffer: 0,
            csw: CSW_RESET,
            tar: 0,
            reset_held: false,
        }
    }
}

impl DebugPort {
    /// Whether the probe holds the reset line. Then the machine must not run.
    pub fn holds_reset(&self) -> bool {
        self.reset_held
    }

    pub fn answer(&mut self, machine: &mut Machine, request: Request) -> Result<Answer, Failure> {
        match request {
            Request::ReadDebugPort { register } => {
                let core = machine.chip().core.kind;
                Ok(Answer::Values(vec![self.read(core, register)]))
            }
            Request::WriteDebugPort { register, value } => {
                self.write(register, value);
                Ok(Answer::Done)
            }
            Request::ReadAccessPort { register, count } => (0..count)
                .map(|_| self.read_access_port(machine, register))
                .collect::<Result<_, _>>()
                .map(Answer::Values),
            Request::WriteAccessPort { register, values } => values
                .into_iter()
                .try_for_each(|value| self.write_access_port(machine, register, value))
                .map(|()| Answer::Done),
            Request::ReadMemory {
                address,
                width,
                count,
            } => read_memory(machine, address, width, count),
            Request::WriteMemory {
                address,
                width,
                values,
            } => write_memory(machine, address, width, &values),
            Request::Reset => self.reset(machine),
            Request::HoldReset(held) => self.hold_reset(machine, held),
            Request::Leave => Ok(Answer::Done),
            Request::IsResetHeld => Ok(Answer::Flag(self.reset_held)),
            Request::InOrder(requests) => requests
                .into_iter()
                .map(|request| self.answer(machine, request))
                .collect::<Result<_, _>>()
                .map(Answer::All),
        }
    }

    fn read(&self, core: CoreKind, register: u32) -> u32 {
        match (register & 0xC, register >> 4 & BANK | self.select & BANK) {
            (DPIDR, _) => core.facts().debug_port.0,
            (CTRL_STAT, 0) => {
                let sticky = if self.sticky_error { STICKY_ERROR } else { 0 };
                self.control | (self.control & POWER_REQUESTS) << 1 | sticky
            }
            (RDBUFF, _) => self.read_buffer,
            // RESEND, and the banks that a version 1 debug port lacks.
            _ => 0,
        }
    }

    fn write(&mut self, register: u32, value: u32) {
        match register & 0xC {
            ABORT => self.sticky_error &= value & ABORT_CLEARS_STICKY_ERROR == 0,
            CTRL_STAT => self.control = value & CTRL_WRITABLE,
            SELECT => self.select = value,
            _ => {}
        }
    }

    fn read_access_port(&mut self, machine: &mut Machine, register: u32) -> Result<u32, Failure> {
        let value = match (register >> 24, register & 0xFC) {
            (0, CSW) => self.csw | CSW_DEVICE_ENABLED,
            (0, TAR) => self.tar,
            (0, DRW) => {
                let value = self.transfer(machine, self.tar, None)?;
                self.increment();
                value
            }
            (0, data) if BANKED_DATA.contains(&data) => {
                self.transfer(machine, self.tar & !0xF | data & 0xF, None)?
            }
            (0, CFG) => 0,
            (0, BASE) => BASE_VALUE,
            (0, IDR) => machine.chip().core.facts().debug_port.1,
            // There is no other access port, so its IDR reads 0.
            _ => 0,
        };
        self.read_buffer = value;
        Ok(value)
    }

    fn write_access_port(
        &mut self,
        machine: &mut Machine,
        register: u32,
        value: u32,
    ) -> Result<(), Failure> {
        match (register >> 24, register & 0xFC) {
            (0, CSW) => self.csw = value & CSW_WRITABLE,
            (0, TAR) => self.tar = value,
            (0, DRW) => {
                self.transfer(machine, self.tar, Some(value))?;
                self.increment();
            }
            (0, data) if BANKED_DATA.contains(&data) => {
                self.transfer(machine, self.tar & !0xF | data & 0xF, Some(value))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// One access of CSW's size. Narrow data is in the byte lanes of its address (IHI 0031,
    /// C2.2.6).
    fn transfer(
        &mut self,
        machine: &mut Machine,
        address: u32,
        data: Option<u32>,
    ) -> Result<u32, Failure> {
        if self.sticky_error {
            return Err(Failure::Sticky);
        }
        answers(machine)?;
        let (width, shift) = self.lanes(address);
        let outcome = match data {
            None => machine.debug_read(address, width).map(|v| v << shift),
            Some(value) => machine
                .debug_write(address, width, value >> shift & width.mask())
                .map(|()| 0),
        };
        self.sticky_error = outcome.is_err();
        outcome.map_err(Failure::from)
    }

    fn lanes(&self, address: u32) -> (Width, u32) {
        match self.csw & 7 {
            0 => (Width::Byte, address % 4 * 8),
            1 => (Width::Half, (address & 2) * 8),
            _ => (Width::Word, 0),
        }
    }

    fn increment(&mut self) {
        let bytes = match self.csw >> 4 & 3 {
            0 => return,
            _ => 1 << (self.csw & 7).min(2),
        };
        let offset = self.tar.wrapping_add(bytes) % INCREMENT_WRAP;
        self.tar = self.tar & !(INCREMENT_WRAP - 1) | offset;
    }

    fn reset(&mut self, machine: &mut Machine) -> Result<Answer, Failure> {
        self.hold_reset(machine, true)?;
        self.hold_reset(machine, false)
    }

    fn hold_reset(&mut self, machine: &mut Machine, held: bool) -> Result<Answer, Failure> {
        if held && !self.reset_held {
            machine
                .reset()
                .map_err(|stop| Failure::from(DebugFault::Stop(stop)))?;
        }
        self.reset_held = held;
        Ok(Answer::Done)
    }
}

/// The access port waits for a bus that has no clock.
fn answers(machine: &Machine) -> Result<(), Failure> {
    match machine.bus_is_unclocked() {
        true => Err(Failure::Asleep),
        false => Ok(()),
    }
}

fn read_memory(
    machine: &mut Machine,
    address: u32,
    width: Width,
    count: usize,
) -> Result<Answer, Failure> {
    answers(machine)?;
    let mut values = Vec::with_capacity(count);
    let mut next = address;
    while values.len() < count {
        let transfer = widest(next, width, count - values.len());
        let data = machine.debug_read(next, transfer)?.to_le_bytes();
        let parts = data[..transfer.bytes() as usize].chunks(width.bytes() as usize);
        values.extend(parts.map(little_endian));
        next = next.wrapping_add(transfer.bytes());
    }
    Ok(Answer::Values(values))
}

fn write_memory(
    machine: &mut Machine,
    address: u32,
    width: Width,
    values: &[u32],
) -> Result<Answer, Failure> {
    answers(machine)?;
    let mut next = address;
    let mut rest = values;
    while !rest.is_empty() {
        let transfer = widest(next, width, rest.len());
        let (now, later) = rest.split_at((transfer.bytes() / width.bytes()) as usize);
        let word = now.iter().rev().fold(0u64, |word, &value| {
            word << (8 * width.bytes()) | u64::from(value & width.mask())
        });
        machine.debug_write(next, transfer, word as u32)?;
        next = next.wrapping_add(transfer.bytes());
        rest = later;
    }
    Ok(Answer::Done)
}

/// Blocks of bytes are transferred as words where possible. All probes do so, and many registers
/// answer only words.
fn widest(address: u32, width: Width, left: usize) -> Width {
    if width == Width::Byte && address % 4 == 0 && left >= 4 {
        Width::Word
    } else {
        width
    }
}

fn little_endian(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, &byte| value << 8 | u32::from(byte))
}
