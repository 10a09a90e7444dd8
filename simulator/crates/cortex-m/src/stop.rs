//! Why a run ends: on purpose ([`RunEnd`]), or because it cannot go on honestly ([`Stop`]).

use std::fmt;

/// Why [`Core::run`](super::Core::run) returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// The deadline is reached. The last instruction may have passed it.
    Deadline,
    /// The bus asked for the machine's attention.
    Attention,
    /// The core sleeps, and nothing pending can wake it.
    Asleep,
    /// A debugger holds the core. It has halted, stepped or locked up.
    Held,
}

/// Why the core cannot continue. Each is displayed as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The chip has it and the model does not.
    Unmodelled { what: String, address: u32, pc: u32 },
    /// No row of the decode tables describes the encoding. 16-bit opcodes have a zero upper half.
    Undefined { opcode: u32, pc: u32 },
    /// The manual calls the encoding, or its place, UNPREDICTABLE (`decode/unpredictable.rs`).
    Unpredictable {
        opcode: u32,
        pc: u32,
        group: &'static str,
    },
    /// A fault at HardFault priority or above (DDI 0403E, B1.5.15).
    Lockup { pc: u32, cause: &'static str },
    /// A BKPT instruction that no debugger or monitor takes.
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
