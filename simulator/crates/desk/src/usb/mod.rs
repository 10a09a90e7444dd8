//! USB devices in user space: models, and the layer that shows them to stock programs through
//! umockdev's preload library.

mod bus;
mod client;
pub mod device;
mod node;
mod port;
mod root_hub;
mod standard;
mod sysfs;
mod udev;
mod usbfs;

pub use bus::{Bus, Plug};
pub use device::{Descriptors, Device, Fault, Setup, Speed, Waker};
