//! What real tools connect to. On the loopback interface only.

pub mod beaglelogic;
mod client_limit;
pub mod fx2;
pub mod line_faults;
mod listener;
pub mod probe;
pub mod stlink;
pub mod stream;
pub mod uart;
pub mod usb;

use crate::core::Stop;

/// What ends serving, or what serving waits for at its end.
pub enum Event {
    StdinClosed,
    Terminated,
    /// The simulation cannot continue.
    Stopped(Stop),
    /// The analyzer has nothing more to send.
    CaptureEnded,
    /// The serial port has nothing more to send.
    UartEnded,
}
