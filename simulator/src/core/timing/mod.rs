//! What instructions, memory and exceptions cost. docs/TIMING.md tells the model as a whole, and how far it may be believed.
//!
//! `table` holds the manual's cycle counts, `operands` and `pairs` the rules between neighbours, `fetch` the prefetch unit,
//! `flash` the STM32F401's flash interface behind it. The core asks; no cycle count is known outside this folder.

mod fetch;
mod flash;
mod load_store_pairs;
mod lru;
mod register_hazards;
mod table;

pub use fetch::{Fetch, FetchShape, Slot};
pub use load_store_pairs::{LoadStorePairs, LoadStorePairsShape};
pub use register_hazards::{address_registers, late_registers};
pub use table::*;

use serde::{Deserialize, Serialize};

/// Which chip's timing the core keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Timing {
    /// The manual's table with P = 1, the TRM's pairs, and memories without wait states.
    Ideal,
    /// A Cortex-M4 in the STM32F401: prefetch unit, flash as FLASH_ACR sets it, buses.
    Nucleo,
}

/// When the address of a branch's target is known, and so on the bus, counted from the branch's execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// In the cycle before: B, BL and BX LR.
    Decode,
    /// In its first cycle: CBZ, BX, BLX, MOV PC, ADD PC.
    Execute,
    /// When the instruction's other cycles are over: loads of the PC, table branches, ISB.
    End,
}

impl Timing {
    #[inline(always)]
    pub fn is_nucleo(self) -> bool {
        self == Timing::Nucleo
    }
}

impl Resolved {
    /// The address cycle of the target of a branch that executes from `start` on and takes `cycles`.
    pub fn address_cycle(self, start: u64, cycles: u8) -> u64 {
        match self {
            Resolved::Decode => start.saturating_sub(1),
            Resolved::Execute => start,
            Resolved::End => start + u64::from(cycles),
        }
    }
}
