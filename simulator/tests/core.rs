//! Small assembly programs on the core. Expected values are worked out by hand from the ARMv7-M
//! Architecture Reference Manual (DDI 0403E), or follow from arithmetic in the test. Cycle counts
//! are those of the Cortex-M4 manual's tables.

#[path = "core/board.rs"]
mod board;
#[path = "core/branches.rs"]
mod branches;
#[path = "core/code_cache.rs"]
mod code_cache;
#[path = "core/data.rs"]
mod data;
#[path = "core/debug.rs"]
mod debug;
#[path = "core/exceptions.rs"]
mod exceptions;
#[path = "core/fast_memory.rs"]
mod fast_memory;
#[path = "core/faults.rs"]
mod faults;
#[path = "core/flash_time.rs"]
mod flash_time;
#[path = "core/float.rs"]
mod float;
#[path = "core/interrupted_instructions.rs"]
mod interrupted_instructions;
#[path = "core/lazy_float.rs"]
mod lazy_float;
#[path = "core/memory.rs"]
mod memory;
#[path = "core/monitor.rs"]
mod monitor;
#[path = "core/mpu.rs"]
mod mpu;
#[path = "core/priorities.rs"]
mod priorities;
#[path = "core/profile.rs"]
mod profile;
#[path = "core/returns.rs"]
mod returns;
#[path = "core/sleep.rs"]
mod sleep;
#[path = "core/time.rs"]
mod time;
#[path = "core/trace.rs"]
mod trace;
#[path = "core/watch.rs"]
mod watch;
