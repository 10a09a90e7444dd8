//! Small assembly programs on the core. Expected values are worked out by hand from the ARMv7-M
//! Architecture Reference Manual (DDI 0403E), or follow from arithmetic in the test. Cycle counts
//! are those of the Cortex-M4 manual's tables. `cores` has what other cores do otherwise.

mod board;
mod branches;
mod code_cache;
mod cores;
mod debug;
mod exceptions;
mod fast_memory;
mod faults;
mod flash_time;
mod float;
mod interrupted_instructions;
mod lazy_float;
mod memory;
mod monitor;
mod mpu;
mod priorities;
mod profile;
mod random_programs;
mod returns;
mod sleep;
mod time;
mod trace;
mod watch;
