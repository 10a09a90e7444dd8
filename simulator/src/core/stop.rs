//! Why a run ends: on purpose ([`RunEnd`]) or because going on would be a lie ([`Stop`]).

use std::fmt;

/// Why [`Core::run`](super::Core::run) handed control back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// The deadline has been reached (or passed by the last instruction).
    Deadline,
    /// The bus asked for the machine's attention.
    Attention,
    /// The core sleeps and nothing pending can wake it.
    Asleep,
    /// A debugger holds the core: it has halted, or stepped, or is locked up.
    Held,
}

/// Why the core cannot continue. Each displays as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Something the chip has and this model has not.
    Unmodelled { what: String, address: u32, pc: u32 },
    /// An encoding that no row of the decode tables describes; 16-bit opcodes have their upper half 0.
    Undefined { opcode: u32, pc: u32 },
    /// An encoding, or a place for it, whose effect the manual leaves UNPREDICTABLE (`decode/unpredictable.rs`).
    Unpredictable {
        opcode: u32,
        pc: u32,
        group: &'static str,
    },
    /// A fault at HardFault priority or above (DDI 0403E, B1.5.15).
    Lockup { pc: u32, cause: &'static str },
    /// A BKPT instruction, with no debugger inside the core to take it.
    Breakpoint { pc: u32, immediate: u8 },
    /// The program asked for a system reset (AIRCR.SYSRESETREQ).
    ResetRequested { pc: u32 },
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Unmodelled { what, address, pc } => {
                write!(
                    f,
                    "{what} at {address:#010x} is not modelled (pc {pc:#010x})"
                )
            }
            Stop::Undefined { opcode, pc } if *opcode > 0xFFFF => {
                write!(
                    f,
                    "instruction {opcode:#010x} is undefined or not modelled (pc {pc:#010x})"
                )
            }
            Stop::Undefined { opcode, pc } => {
                write!(
                    f,
                    "instruction {opcode:#06x} is undefined or not modelled (pc {pc:#010x})"
                )
            }
            Stop::Unpredictable { opcode, pc, group } => {
                write!(
                    f,
                    "instruction {opcode:#x} is UNPREDICTABLE ({group}; pc {pc:#010x})"
                )
            }
            Stop::Lockup { pc, cause } => {
                write!(
                    f,
                    "the core locked up: {cause} at HardFault priority (pc {pc:#010x})"
                )
            }
            Stop::Breakpoint { pc, immediate } => {
                write!(f, "breakpoint {immediate} reached (pc {pc:#010x})")
            }
            Stop::ResetRequested { pc } => {
                write!(
                    f,
                    "the program requested a system reset through AIRCR (pc {pc:#010x})"
                )
            }
        }
    }
}

impl std::error::Error for Stop {}
