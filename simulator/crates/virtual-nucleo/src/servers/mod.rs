//! What clients on the loopback interface connect to, and the serial port.

pub mod beaglelogic;
mod listener;
pub mod probe;
pub mod uart;

use cortex_m::Stop;

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
