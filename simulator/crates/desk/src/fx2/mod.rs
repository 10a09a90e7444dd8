//! A logic analyzer with a Cypress FX2 and the fx2lafw firmware of the sigrok project.
//!
//! Commands: libsigrok's driver `src/hardware/fx2lafw` and its firmware's `include/command.h`.
//! Nothing is dropped: the simulation is held back while the host does not read. What a real one
//! does when it is too slow is a fault to inject ([`crate::faults`]).

mod bare;
mod capture;
mod descriptors;

pub use bare::Bare;

use super::usb::{Descriptors, Device, Fault, Setup, Waker};
use crate::faults::Faults;
use capture::Capture;
use std::sync::mpsc::{self, Sender};
use virtual_nucleo::analyzer::stream::Unit;
use virtual_nucleo::analyzer::CaptureRequest;

const GET_FIRMWARE_VERSION: u8 = 0xB0;
const START: u8 = 0xB1;
const GET_REVISION: u8 = 0xB2;
const VENDOR_IN: u8 = 0xC0;
const VENDOR_OUT: u8 = 0x40;
const SAMPLES: u8 = 0x82;

/// START's flags, and the clocks that its delay divides.
const SIXTEEN_BITS: u8 = 1 << 5;
const CLOCK_48_MHZ: u8 = 1 << 6;
const FAST_HZ: u64 = 48_000_000;
const SLOW_HZ: u64 = 30_000_000;

/// An FX2LP.
const REVISION: u8 = 1;

/// Slices of simulation that may wait for the host.
const SLICES_AHEAD: usize = 16;

/// Where an analyzer is on the desk: what it shares with the simulation and whoever injects faults.
#[derive(Clone)]
pub struct Wires {
    pub captures: Sender<CaptureRequest>,
    pub waker: Waker,
    pub faults: Faults,
    /// How much too fast the analyzer's clock is, in millionths.
    pub clock_error_ppm: i64,
}

/// The analyzer with its firmware running.
pub struct Fx2 {
    descriptors: Descriptors,
    wires: Wires,
    capture: Option<Capture>,
}

impl Fx2 {
    /// The 8-channel or 16-channel analyzer of the sigrok project.
    pub fn new(sixteen: bool, wires: Wires) -> Fx2 {
        Fx2::with(descriptors::sigrok(sixteen), wires)
    }

    fn with(descriptors: Descriptors, wires: Wires) -> Fx2 {
        Fx2 {
            descriptors,
            wires,
            capture: None,
        }
    }

    /// `arguments`: flags, then the delay, high byte first.
    fn start(&mut self, arguments: &[u8]) -> Result<Vec<u8>, Fault> {
        let &[flags, high, low] = arguments else {
            return Err(Fault::Stall);
        };
        if self.wires.faults.refuses_start() {
            return Err(Fault::Stall);
        }
        let clock_hz = if flags & CLOCK_48_MHZ != 0 {
            FAST_HZ
        } else {
            SLOW_HZ
        };
        let samplerate_hz = clock_hz / (u64::from(u16::from_be_bytes([high, low])) + 1);
        let unit = if flags & SIXTEEN_BITS != 0 {
            Unit::Sixteen
        } else {
            Unit::Eight
        };
        let (runs, arrivals) = mpsc::sync_channel(SLICES_AHEAD);
        let waker = self.wires.waker.clone();
        let request = CaptureRequest {
            samplerate_hz: samplerate_hz.saturating_add_signed(
                samplerate_hz as i64 * self.wires.clock_error_ppm / 1_000_000,
            ),
            runs,
            arrived: Box::new(move || waker.wake()),
        };
        self.wires
            .captures
            .send(request)
            .map_err(|_| Fault::Protocol)?;
        self.capture = Some(Capture::new(arrivals, unit, self.wires.faults.clone()));
        Ok(Vec::new())
    }
}

impl Device for Fx2 {
    fn descriptors(&self) -> &Descriptors {
        &self.descriptors
    }

    fn control(&mut self, setup: Setup, data: &[u8]) -> Result<Vec<u8>, Fault> {
        match (setup.request_type, setup.request) {
            (VENDOR_IN, GET_FIRMWARE_VERSION) => Ok(self.wires.faults.firmware().to_vec()),
            (VENDOR_IN, GET_REVISION) => Ok(vec![REVISION]),
            (VENDOR_OUT, START) => self.start(data),
            _ => Err(Fault::Stall),
        }
    }

    fn bulk_out(&mut self, _: u8, _: &[u8]) -> Result<(), Fault> {
        Err(Fault::Stall)
    }

    fn bulk_in(&mut self, endpoint: u8, most: usize) -> Result<Option<Vec<u8>>, Fault> {
        match &mut self.capture {
            _ if endpoint != SAMPLES => Err(Fault::Stall),
            Some(capture) => capture.transfer(most),
            None => Ok(None),
        }
    }

    /// The host has enough: the firmware has no command for that.
    fn release(&mut self) {
        self.capture = None;
    }
}
