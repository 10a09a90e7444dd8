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
mod load_store_pairs;
mod lru;
mod pipeline;
mod prefetch_buffer;
mod register_hazards;
mod table;

pub use cores::{address_registers, base_cycles, late_registers, long_operand_cycles};
pub use fetch::Fetch;
pub use pipeline::{Iteration, Pipeline, Resolved, Start};
pub use table::{
    divide_cycles, unaligned_cycles, FLOAT_FRAME_CYCLES, TABLE_BRANCH_ADDITION_CYCLES,
};

pub use crate::model::Timing;
