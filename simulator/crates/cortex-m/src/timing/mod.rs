//! What instructions, memory and exceptions cost. docs/reference/timing.md describes the whole model and how
//! far to believe it.
//!
//! `table` holds the manual's cycle counts. `register_hazards` and `load_store_pairs` hold the
//! rules between neighbours, `fetch` the prefetch unit, `flash` the STM32F4's flash interface behind
//! it, `prefetch_buffer` that of chips without caches. `cores` holds what the other cores cost,
//! `one_bus` how those fetch that have one bus. No cycle count is known outside this folder.

mod cores;
mod fetch;
mod flash;
mod iteration;
mod load_store_pairs;
mod lru;
mod pipeline;
mod prefetch_buffer;
mod register_hazards;
mod table;

pub use cores::{
    address_registers, base_cycles, late_registers, long_operand_cycles, overlaps_indexed,
    refill_cycles,
};
pub use fetch::Fetch;
use fetch::FetchShape;
pub use iteration::{Iteration, Start};
use load_store_pairs::{LoadStorePairs, LoadStorePairsShape};
pub use pipeline::Pipeline;
pub use table::{
    divide_cycles, unaligned_cycles, FLOAT_FRAME_CYCLES, RETURN_ADDRESS_CYCLES,
    TABLE_BRANCH_ADDITION_CYCLES,
};

use crate::model::{CoreKind, Supply};
use serde::{Deserialize, Serialize};

/// The chip whose timing the core has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Timing {
    /// The manual's table with P = 1, the TRM's pairs, and memories without wait states.
    Ideal,
    /// The core in its chip. A Cortex-M4 or M3: prefetch unit, flash as FLASH_ACR sets it, buses.
    Nucleo,
    /// The same for a core with one bus. [`crate::Core::of`] chooses it.
    OneBus,
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

    /// Whether memory and buses make the core wait.
    #[inline(always)]
    pub fn waits(self) -> bool {
        self != Timing::Ideal
    }

    /// The same way of counting, for a core of this kind.
    pub fn of(self, kind: CoreKind) -> Timing {
        match (self, kind.facts().supply) {
            (Timing::Nucleo, Supply::OneBus { .. }) => Timing::OneBus,
            _ => self,
        }
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
