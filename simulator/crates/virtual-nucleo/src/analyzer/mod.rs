//! What a logic analyzer sees of a board: which pins its inputs are clipped to, and their samples.

pub mod clips;
pub mod samples;
pub mod stream;

use samples::Run;
use std::sync::mpsc::SyncSender;

/// A client's request for samples. It gets runs until the receiver is dropped.
pub struct CaptureRequest {
    pub samplerate_hz: u64,
    pub runs: SyncSender<Vec<Run>>,
    /// Called whenever there are new runs.
    pub arrived: Box<dyn Fn() + Send>,
}
