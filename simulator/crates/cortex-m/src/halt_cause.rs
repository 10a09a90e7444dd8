//! Why a debugger's core halts.

use serde::{Deserialize, Serialize};

/// DFSR (B3.2.18).
pub const DFSR_HALTED: u32 = 1 << 0;
pub const DFSR_BKPT: u32 = 1 << 1;
pub const DFSR_DWTTRAP: u32 = 1 << 2;
pub const DFSR_VCATCH: u32 = 1 << 3;

/// Why the core halts, as DFSR says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// C_HALT, or a step that is over.
    Request,
    Breakpoint,
    Watchpoint,
    VectorCatch,
}

impl Cause {
    pub fn dfsr(self) -> u32 {
        match self {
            Cause::Request => DFSR_HALTED,
            Cause::Breakpoint => DFSR_BKPT,
            Cause::Watchpoint => DFSR_DWTTRAP,
            Cause::VectorCatch => DFSR_VCATCH,
        }
    }
}
