//! The virtual Nucleo: an STM32F401RE board that runs the same ELF as the real one, cycle by cycle.

pub mod bus;
pub mod chip;
pub mod clips;
pub mod commands;
pub mod core;
pub mod debug_port;
pub mod edges;
pub mod machine;
pub mod manners;
pub mod memory;
pub mod observe;
pub mod peripherals;
#[cfg(test)]
mod random;
pub mod samples;
pub mod servers;
pub mod simulation;
pub mod snapshot;
pub mod soc;
pub mod timebase;
