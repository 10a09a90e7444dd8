//! The way from a debug probe to the machine (ARM IHI 0031): a debug port, one access port, and the
//! board's reset line.

mod port;
mod request;

pub use port::DebugPort;
pub use request::{Answer, Failure, ProbeRequest, Request, Target, Wire};
