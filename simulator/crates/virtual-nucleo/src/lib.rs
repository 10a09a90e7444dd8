//! The virtual Nucleo: an STM32F401RE board that runs the same ELF as the real one, cycle by cycle.

pub mod analyzer;
pub mod commands;
pub mod servers;
pub mod simulation;
