//! The way from a debug probe to the machine (ARM IHI 0031): a debug port, one access port, and the
//! board's reset line.

pub mod port;
pub mod request;
pub mod wire;

pub use port::DebugPort;
pub use request::{Answer, Failure, Request};
pub use wire::{ProbeRequest, Target, Wire};
