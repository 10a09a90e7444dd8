//! What ends an instruction early.

use crate::bus::Fault as BusFault;
use crate::halt_cause::Cause;
use crate::nvic::{BUS_FAULT, USAGE_FAULT};
use crate::stop::Stop;

/// An architectural fault: the exception it raises and its bit in CFSR (B3.2.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub exception: u8,
    pub cfsr: u32,
    /// For MMFAR or BFAR.
    pub address: Option<u32>,
}

pub enum Trap {
    Fault(Fault),
    Stop(Box<Stop>),
    /// The debugger takes over before this instruction.
    Halt(Cause),
    /// An exception is taken before this instruction is over. It is continued or restarted later.
    Interrupted,
}

/// The result of a part of an instruction.
pub type Exec<T> = Result<T, Trap>;

pub mod cfsr {
    pub const IACCVIOL: u32 = 1 << 0;
    pub const DACCVIOL: u32 = 1 << 1;
    pub const MUNSTKERR: u32 = 1 << 3;
    pub const MSTKERR: u32 = 1 << 4;
    pub const MLSPERR: u32 = 1 << 5;
    pub const MMARVALID: u32 = 1 << 7;
    pub const IBUSERR: u32 = 1 << 8;
    pub const PRECISERR: u32 = 1 << 9;
    pub const IMPRECISERR: u32 = 1 << 10;
    pub const UNSTKERR: u32 = 1 << 11;
    pub const STKERR: u32 = 1 << 12;
    pub const LSPERR: u32 = 1 << 13;
    pub const BFARVALID: u32 = 1 << 15;
    pub const UNDEFINSTR: u32 = 1 << 16;
    pub const INVSTATE: u32 = 1 << 17;
    pub const INVPC: u32 = 1 << 18;
    pub const NOCP: u32 = 1 << 19;
    pub const UNALIGNED: u32 = 1 << 24;
    pub const DIVBYZERO: u32 = 1 << 25;
}

impl Trap {
    pub fn usage(cfsr: u32) -> Trap {
        Trap::Fault(Fault {
            exception: USAGE_FAULT,
            cfsr,
            address: None,
        })
    }

    pub fn bus(cfsr: u32, address: Option<u32>) -> Trap {
        Trap::Fault(Fault {
            exception: BUS_FAULT,
            cfsr,
            address,
        })
    }

    /// A fault of data that is reported at its instruction, with its address.
    #[cold]
    pub fn of_data(fault: BusFault, pc: u32) -> Trap {
        match fault {
            BusFault::Bus { address } => Trap::bus(cfsr::PRECISERR, Some(address)),
            BusFault::Unmodelled { what, address } => Trap::unmodelled(what, address, pc),
        }
    }

    /// Of the instruction at `pc`.
    #[cold]
    pub fn unpredictable(opcode: u32, pc: u32, group: &'static str) -> Trap {
        Trap::Stop(Box::new(Stop::Unpredictable { opcode, pc, group }))
    }

    pub fn unmodelled(what: impl Into<String>, address: u32, pc: u32) -> Trap {
        Trap::Stop(Box::new(Stop::Unmodelled {
            what: what.into(),
            address,
            pc,
        }))
    }
}
