//! Memories, peripherals and clocks of the STM32F4 chips, as the core sees them on one bus.

pub mod chip;
pub mod chip_file;
pub mod edges;
pub mod lines;
pub mod manners;
pub mod memory;
pub mod partners;
pub mod peripherals;
#[cfg(test)]
#[path = "../../../tests/support/random.rs"]
mod random;
pub mod soc;
mod text_file;
pub mod timebase;
