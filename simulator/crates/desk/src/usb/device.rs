//! What a model of a USB device answers (Universal Serial Bus Specification 2.0, chapter 9). The
//! layer below lays out sysfs, talks usbfs and sends udev's messages.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// 12 or 480 Mbit/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speed {
    Full,
    High,
}

impl Speed {
    /// What `USBDEVFS_GET_SPEED` returns (`enum usb_device_speed` of Linux).
    pub fn usbfs(self) -> i64 {
        match self {
            Speed::Full => 2,
            Speed::High => 3,
        }
    }

    /// Mbit/s, as sysfs says it.
    pub fn sysfs(self) -> &'static str {
        match self {
            Speed::Full => "12",
            Speed::High => "480",
        }
    }
}

/// What the device says of itself. The layer answers standard requests from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptors {
    /// The device descriptor (USB 2.0, table 9-8).
    pub device: [u8; 18],
    /// The one configuration: its descriptor with all interfaces and endpoints.
    pub configuration: Vec<u8>,
    /// String 1 and those that follow, in US English.
    pub strings: Vec<String>,
    pub speed: Speed,
}

impl Descriptors {
    /// The string with this index of the device descriptor. 0 is none.
    pub fn string(&self, index: u8) -> Option<&str> {
        let place = usize::from(index).checked_sub(1)?;
        self.strings.get(place).map(String::as_str)
    }

    pub fn configuration_value(&self) -> u8 {
        self.configuration[5]
    }
}

/// A control request's set-up packet (USB 2.0, table 9-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    pub request_type: u8,
    pub request: u8,
    pub value: u16,
    pub index: u16,
    /// Bytes of data that follow, or that the host takes at most.
    pub length: u16,
}

/// How a transfer fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The endpoint stalls: EPIPE.
    Stall,
    /// The device does not answer the bus: EPROTO.
    Protocol,
    /// The device sent more than was asked for: EOVERFLOW.
    Overflow,
    /// The device is unplugged: ENODEV, from now on.
    Gone,
}

pub trait Device: Send {
    fn descriptors(&self) -> &Descriptors;

    /// Takes another product id, before it is plugged in. Most devices have one alone.
    fn set_product(&mut self, _product: u16) {}

    /// Answers a class or vendor request. `data` is what the host sends, and empty for a request
    /// that reads. The layer cuts the answer to `setup.length`.
    fn control(&mut self, setup: Setup, data: &[u8]) -> Result<Vec<u8>, Fault>;

    /// Takes one whole transfer of the host. May block until the board has answered.
    fn bulk_out(&mut self, endpoint: u8, data: &[u8]) -> Result<(), Fault>;

    /// Data for the oldest transfer that waits at `endpoint` (with bit 7 set): it ends with these
    /// bytes, at most `most` of them. None: nothing yet. The transfer then waits until the host
    /// discards it, or asks again when the device calls [`Waker::wake`], or after another request
    /// to the same device.
    fn bulk_in(&mut self, endpoint: u8, most: usize) -> Result<Option<Vec<u8>>, Fault>;

    /// A program released an interface, reset the device, or is gone with transfers under way.
    fn release(&mut self) {}

    /// Asked after each control request. Some: the device leaves the bus, and comes back as this
    /// one.
    fn renumerated(&mut self) -> Option<Box<dyn Device>> {
        None
    }
}

/// Tells the layer that a device may have data for a transfer that waits. Clones wake the same one.
#[derive(Clone, Default)]
pub struct Waker {
    woken: Arc<(Mutex<bool>, Condvar)>,
}

impl Waker {
    pub fn wake(&self) {
        let (woken, changed) = &*self.woken;
        *woken.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_one();
    }

    /// Waits for the next call of [`Waker::wake`], or for one since the last wait. For one waiting
    /// thread.
    pub fn wait(&self, longest: Duration) {
        let (woken, changed) = &*self.woken;
        let guard = woken.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut guard, _) = changed
            .wait_timeout_while(guard, longest, |woken| !*woken)
            .unwrap_or_else(PoisonError::into_inner);
        *guard = false;
    }
}
