//! The command block: 16 bytes, the first of which say what is asked for. Codes as pyOCD
//! (`probe/stlink/constants.py`, `stlink.py`) and OpenOCD (`stlink_usb.c`) publish them.

use super::status::Status;
use cortex_m::bus::Width;

pub const BLOCK_BYTES: usize = 16;
/// In one command. Transfers by bytes go in one packet.
const MOST_BYTES: u16 = 6144;
const MOST_BYTES_BY_BYTE: u16 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Version,
    Mode,
    Voltage,
    /// Leaves the firmware update mode or SWIM. There is no answer.
    LeaveOther,
    EnterDebug,
    /// There is no answer.
    LeaveDebug,
    SetFrequency,
    /// 12 bytes, or the first 2.
    LastTransfer {
        bytes: usize,
    },
    DriveReset(ResetDrive),
    ResetCore,
    ReadIdcodes,
    /// By DCRSR's number.
    ReadRegister(u8),
    WriteRegister(u8, u32),
    ReadAllRegisters,
    ReadWord(u32),
    WriteWord(u32, u32),
    ReadDap(DapRegister),
    WriteDap(DapRegister, u32),
    OpenAp(u8),
    CloseAp(u8),
    ReadMemory(Block),
    /// The data follows the command.
    WriteMemory(Block),
    BoardIdentifiers,
    StartTrace,
    StopTrace,
    TraceBytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetDrive {
    Low,
    High,
    Pulse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DapRegister {
    /// With the bank in bits 7:4.
    Debug(u8),
    Access {
        port: u8,
        register: u8,
    },
}

/// Memory that a command reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub address: u32,
    pub bytes: u16,
    pub width: Width,
    pub port: u8,
    /// CSW's bits 31:8, or 0 for the usual ones.
    pub csw: u32,
    /// The address stays as it is.
    pub fixed: bool,
}

impl Block {
    /// Whether the probe can transfer it.
    pub fn check(&self) -> Result<(), Status> {
        let size = self.width.bytes();
        if self.address % size != 0 || u32::from(self.bytes) % size != 0 {
            return Err(Status::Misaligned);
        }
        let most = match self.width {
            Width::Byte => MOST_BYTES_BY_BYTE,
            _ => MOST_BYTES,
        };
        (self.bytes <= most)
            .then_some(())
            .ok_or(Status::CommandError)
    }
}

impl Command {
    /// A shorter block means zeros at its end.
    pub fn parse(bytes: &[u8]) -> Result<Command, Status> {
        let mut block = Fields([0; BLOCK_BYTES]);
        let given = bytes.len().min(BLOCK_BYTES);
        block.0[..given].copy_from_slice(&bytes[..given]);
        match (block.byte(0), block.byte(1)) {
            (0xF1, _) => Ok(Command::Version),
            (0xF5, _) => Ok(Command::Mode),
            (0xF7, _) => Ok(Command::Voltage),
            (0xF3, 0x07) | (0xF4, 0x01) => Ok(Command::LeaveOther),
            (0xF2, code) => block.debug_command(code),
            _ => Err(Status::UnknownCommand),
        }
    }

    /// Bytes that the host sends after the command.
    pub fn data_bytes(&self) -> usize {
        match self {
            Command::WriteMemory(block) => block.bytes.into(),
            _ => 0,
        }
    }
}

struct Fields([u8; BLOCK_BYTES]);

impl Fields {
    fn debug_command(&self, code: u8) -> Result<Command, Status> {
        Ok(match code {
            0x21 => Command::LeaveDebug,
            0x30 => self.enter()?,
            0x31 => Command::ReadIdcodes,
            0x32 => Command::ResetCore,
            0x33 => Command::ReadRegister(self.byte(2)),
            0x34 => Command::WriteRegister(self.byte(2), self.word(3)),
            0x35 => Command::WriteWord(self.word(2), self.word(6)),
            0x36 => Command::ReadWord(self.word(2)),
            0x3A => Command::ReadAllRegisters,
            0x3B => Command::LastTransfer { bytes: 2 },
            0x3C => Command::DriveReset(self.reset_drive()?),
            0x3E => Command::LastTransfer { bytes: 12 },
            0x40 => Command::StartTrace,
            0x41 => Command::StopTrace,
            0x42 => Command::TraceBytes,
            0x43 | 0x44 => Command::SetFrequency,
            0x45 => Command::ReadDap(self.dap_register()?),
            0x46 => Command::WriteDap(self.dap_register()?, self.word(6)),
            0x4B => Command::OpenAp(self.byte(2)),
            0x4C => Command::CloseAp(self.byte(2)),
            0x56 => Command::BoardIdentifiers,
            _ => self.memory_command(code)?,
        })
    }

    fn memory_command(&self, code: u8) -> Result<Command, Status> {
        let (width, fixed) = match code {
            0x0C | 0x0D => (Width::Byte, false),
            0x47 | 0x48 => (Width::Half, false),
            0x07 | 0x08 => (Width::Word, false),
            0x50 | 0x54 => (Width::Word, true),
            _ => return Err(Status::UnknownCommand),
        };
        let block = Block {
            address: self.word(2),
            bytes: self.half(6),
            width,
            port: self.byte(8),
            csw: self.word(8) & 0xFFFF_FF00,
            fixed,
        };
        Ok(match code {
            0x07 | 0x0C | 0x47 | 0x54 => Command::ReadMemory(block),
            _ => Command::WriteMemory(block),
        })
    }

    /// Only SWD is wired.
    fn enter(&self) -> Result<Command, Status> {
        match self.byte(2) {
            0xA3 => Ok(Command::EnterDebug),
            _ => Err(Status::CommandError),
        }
    }

    fn reset_drive(&self) -> Result<ResetDrive, Status> {
        match self.byte(2) {
            0 => Ok(ResetDrive::Low),
            1 => Ok(ResetDrive::High),
            2 => Ok(ResetDrive::Pulse),
            _ => Err(Status::CommandError),
        }
    }

    fn dap_register(&self) -> Result<DapRegister, Status> {
        let register = u8::try_from(self.half(4)).map_err(|_| Status::CommandError)?;
        match self.half(2) {
            0xFFFF => Ok(DapRegister::Debug(register)),
            port => u8::try_from(port)
                .map(|port| DapRegister::Access { port, register })
                .map_err(|_| Status::NoSuchAp),
        }
    }

    fn byte(&self, at: usize) -> u8 {
        self.0[at]
    }

    fn half(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.0[at], self.0[at + 1]])
    }

    fn word(&self, at: usize) -> u32 {
        u32::from(self.half(at)) | u32::from(self.half(at + 2)) << 16
    }
}
