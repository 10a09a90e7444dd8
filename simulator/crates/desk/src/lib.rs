//! What lies around the board, as real tools see it: what the analyzer samples, the analyzer and the
//! debug probe on USB, the serial line. On the loopback interface only.

pub mod capture_request;
pub mod client_limit;
pub mod clips;
pub mod fx2;
pub mod line_faults;
pub mod listener;
pub mod samples;
pub mod stlink;
pub mod stream;
pub mod uart;
pub mod usb;

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

#[cfg(test)]
#[path = "../../../tests/support/random.rs"]
mod random;
