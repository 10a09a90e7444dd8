//! An FX2 without firmware. The host writes its memory and lets its 8051 run (Cypress, EZ-USB
//! Technical Reference Manual, 3.8 "Firmware load": vendor request 0xA0; CPUCS at 0xE600).

use super::descriptors;
use super::{Fx2, Wires};
use crate::usb::{Descriptors, Device, Fault, Setup};

const FIRMWARE_LOAD: u8 = 0xA0;
const CPUCS: u16 = 0xE600;
const HELD_IN_RESET: u8 = 1;
/// The FX2LP's memory for program and data.
const MEMORY_BYTES: usize = 16 << 10;

pub struct Bare {
    descriptors: Descriptors,
    memory: Vec<u8>,
    held: bool,
    /// The 8051 has left its reset.
    released: bool,
    wires: Wires,
}

impl Bare {
    /// As an analyzer with 8 or with 16 channels is plugged in.
    pub fn new(sixteen: bool, wires: Wires) -> Bare {
        Bare {
            descriptors: descriptors::bare(sixteen),
            memory: vec![0; MEMORY_BYTES],
            held: false,
            released: false,
            wires,
        }
    }

    fn write(&mut self, address: u16, data: &[u8]) -> Result<(), Fault> {
        if address == CPUCS {
            let held = data.first().ok_or(Fault::Stall)? & HELD_IN_RESET != 0;
            self.released |= self.held && !held;
            self.held = held;
            return Ok(());
        }
        let place = usize::from(address);
        let cells = self.memory.get_mut(place..place + data.len());
        cells.ok_or(Fault::Stall)?.copy_from_slice(data);
        Ok(())
    }

    fn read(&self, address: u16, length: u16) -> Result<Vec<u8>, Fault> {
        let place = usize::from(address);
        let cells = self.memory.get(place..place + usize::from(length));
        cells.map(<[u8]>::to_vec).ok_or(Fault::Stall)
    }
}

impl Device for Bare {
    fn descriptors(&self) -> &Descriptors {
        &self.descriptors
    }

    fn control(&mut self, setup: Setup, data: &[u8]) -> Result<Vec<u8>, Fault> {
        match (setup.request, setup.request_type & 0x80 != 0) {
            (FIRMWARE_LOAD, true) => self.read(setup.value, setup.length),
            (FIRMWARE_LOAD, false) => self.write(setup.value, data).map(|()| Vec::new()),
            _ => Err(Fault::Stall),
        }
    }

    fn bulk_out(&mut self, _: u8, _: &[u8]) -> Result<(), Fault> {
        Err(Fault::Stall)
    }

    fn bulk_in(&mut self, _: u8, _: usize) -> Result<Option<Vec<u8>>, Fault> {
        Err(Fault::Stall)
    }

    /// The 8051 runs: it comes back as what its memory says.
    fn renumerated(&mut self) -> Option<Box<dyn Device>> {
        if !std::mem::take(&mut self.released) {
            return None;
        }
        let descriptors = descriptors::in_memory(&self.memory)?;
        Some(Box::new(Fx2::with(descriptors, self.wires.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::Faults;
    use crate::usb::Waker;
    use std::sync::mpsc;

    fn write(device: &mut Bare, value: u16, data: &[u8]) -> Option<Box<dyn Device>> {
        let setup = Setup {
            request_type: 0x40,
            request: FIRMWARE_LOAD,
            value,
            index: 0,
            length: data.len() as u16,
        };
        device.control(setup, data).unwrap();
        device.renumerated()
    }

    fn bare() -> Bare {
        let wires = Wires {
            captures: mpsc::channel().0,
            waker: Waker::default(),
            faults: Faults::new(mpsc::channel().0),
            clock_error_ppm: 0,
        };
        Bare::new(false, wires)
    }

    #[test]
    fn it_comes_back_as_its_firmware_says_when_the_8051_leaves_reset() {
        let mut device = bare();
        let firmware = descriptors::sigrok(true);
        let mut image = firmware.device.to_vec();
        image.extend(&firmware.configuration);
        image.extend([0, 4, 3, 9, 4, 4, 3, b's', 0]);
        assert!(write(&mut device, CPUCS, &[1]).is_none());
        assert!(write(&mut device, 0x1E00, &image).is_none());
        let another = write(&mut device, CPUCS, &[0]).unwrap();
        assert_eq!(another.descriptors().device, firmware.device);
        assert_eq!(another.descriptors().strings, ["s"]);
    }

    #[test]
    fn without_firmware_it_stays_away() {
        let mut device = bare();
        write(&mut device, CPUCS, &[1]);
        assert!(write(&mut device, CPUCS, &[0]).is_none());
    }
}
