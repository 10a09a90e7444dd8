//! USB devices in user space: models, and the layer that shows them to stock programs.

pub mod device;

pub use device::{Descriptors, Device, Fault, Setup, Speed, Waker};
