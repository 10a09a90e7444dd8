//! What instructions, memory and exceptions cost. docs/reference/timing.md describes the whole model and how
//! far to believe it.
//!
//! `table` holds the manual's cycle counts. `register_hazards` and `load_store_pairs` hold the
//! rules between neighbours, `fetch` the prefetch unit, `flash` the STM32F401's flash interface
//! behind it. No cycle count is known outside this folder.

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

/// The chip whose timing the core has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Timing {
    /// The manual's table with P = 1, the TRM's pairs, and memories without wait states.
    Ideal,
    /// A Cortex-M4 in the STM32F401: prefetch unit, flash as FLASH_ACR sets it, buses.
    Nucleo,
}

/// When the address of a branch's target is known, and so on the bus, relative to the branch's
/// execution.
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
    /// The cycle in which the target's address is on the bus, for a branch that executes from
    /// `start` on and takes `cycles`.
    pub fn address_cycle(self, start: u64, cycles: u8) -> u64 {
        match self {
            Resolved::Decode => start.saturating_sub(1),
            Resolved::Execute => start,
            Resolved::End => start + u64::from(cycles),
        }
    }
}
