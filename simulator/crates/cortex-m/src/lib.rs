//! A Cortex-M core and its private peripherals: the M4 with its FPU (ARMv7E-M), the M3 (ARMv7-M) or
//! the M0 (ARMv6-M).
//!
//! | file | what it does |
//! |---|---|
//! | `bus`, `access`, `memory_map`, `stop`, `trap`, `halt_cause` | the words in which the others speak |
//! | `model` | says which core it is, and what that one has |
//! | `decode` | turns opcodes into operations |
//! | `timing` | the pipeline: what operations and accesses cost |
//! | `registers` | what instructions read and write |
//! | `nvic` | what pends, what masks, and what preempts |
//! | `scb`, `mpu`, `systick`, `dwt`, `itm`, `debug` | the other units of the private bus |
//! | `capabilities`, `private_gaps` | what a core has of them, and what the model lacks |
//! | `data_path` | who makes loads and stores, and what checks them |
//! | `code_cache`, `busy_wait` | remember operations, and skip iterations of loops that only wait |
//! | `places`, `watch`, `planned_interrupt` | note what the program does, and pend an interrupt |
//! | `state` | the parts of a core that are none of these |
//! | `core` | executes, and ties the parts together |
//!
//! Each knows only those before it.
//!
//! Section numbers are those of the ARMv7-M Architecture Reference Manual, ARM DDI 0403E, unless
//! another manual is named. TRM is the Cortex-M4 Technical Reference Manual, ARM DDI 0439.

mod access;
pub mod bus;
mod busy_wait;
mod capabilities;
mod code_cache;
mod core;
mod data_path;
mod debug;
mod decode;
mod dwt;
mod halt_cause;
mod itm;
mod memory_map;
pub mod model;
mod mpu;
mod nvic;
mod places;
mod planned_interrupt;
mod private_gaps;
mod registers;
mod scb;
mod state;
mod stop;
mod systick;
mod timing;
mod trap;
mod watch;

pub use crate::core::Core;
pub use debug::{Debug, DebugFault};
pub use decode::{encoding_name, encodings, encodings_of, is_wide, Encoding};
pub use itm::{Itm, Stimulus};
pub use model::{CoreKind, Model};
pub use nvic::{Hold, Nvic, IRQ_LINES};
pub use places::Passage;
pub use planned_interrupt::{Planned, Raised};
pub use registers::Registers;
pub use scb::{FaultStatus, Scb};
pub use state::FaultEntry;
pub use stop::{RunEnd, Stop};
pub use timing::{unaligned_cycles, Pipeline, Timing};
pub use watch::{Change, Context, ExceptionFrame, Watched, What};

#[cfg(test)]
#[path = "../../../tests/support/random.rs"]
mod random;
#[cfg(test)]
mod two_memories;
