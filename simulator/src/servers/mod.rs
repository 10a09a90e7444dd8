//! What real tools connect to, on the loopback interface only.

pub mod beaglelogic;
mod client_limit;
mod listener;
pub mod probe;
pub mod stream;
pub mod uart;

use crate::core::Stop;

/// What ends serving, or is waited for at its end.
pub enum Event {
    StdinClosed,
    Terminated,
    /// The simulation cannot go on.
    Stopped(Stop),
    /// The analyzer has handed over all that it will.
    CaptureEnded,
    /// The serial port has handed over all that it will.
    UartEnded,
}
