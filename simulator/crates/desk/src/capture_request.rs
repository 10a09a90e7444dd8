//! What an analyzer asks of whoever runs the board.

use crate::samples::Run;
use crate::usb::Waker;
use std::sync::mpsc::SyncSender;

/// A client's request for samples. It gets runs until the receiver is dropped.
pub struct CaptureRequest {
    pub samplerate_hz: u64,
    pub runs: SyncSender<Vec<Run>>,
    /// Told whenever there are new runs.
    pub arrived: Option<Waker>,
}
