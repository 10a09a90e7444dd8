//! Instruction timing.

/// Which chip's timing the core keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// The manual's table with the shortest pipeline refill and memories without wait states.
    Ideal,
    /// A Cortex-M4 behind the STM32F401's bus matrix: refill as measured, the bus's wait cycles added.
    Nucleo,
}
