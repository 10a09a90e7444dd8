//! All integration tests in one program. A file of its own would be linked with the whole library
//! once more.

mod busy_wait;
mod core;
mod elf;
mod hostile;
mod idle;
mod latency;
mod manners;
mod masks;
mod observe;
mod partners;
mod peripherals;
mod profile;
mod programs;
mod run;
mod serve;
mod snapshot;
mod support;
