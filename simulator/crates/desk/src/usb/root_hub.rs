//! The hub that every bus begins with. Scans ask it, too.

use super::device::{Descriptors, Device, Fault, Setup, Speed};

pub struct RootHub {
    descriptors: Descriptors,
}

impl Default for RootHub {
    fn default() -> RootHub {
        RootHub {
            descriptors: Descriptors {
                // A high-speed hub, 1d6b:0002 as Linux calls its own.
                device: [
                    18, 1, 0x00, 0x02, 9, 0, 1, 64, 0x6b, 0x1d, 0x02, 0x00, 0x00, 0x06, 2, 1, 0, 1,
                ],
                configuration: vec![
                    9, 2, 25, 0, 1, 1, 0, 0xE0, 0, // self-powered
                    9, 4, 0, 0, 1, 9, 0, 0, 0, // one interface, a hub
                    7, 5, 0x81, 3, 4, 0, 12, // its status changes
                ],
                strings: vec!["Tailscope".into(), "emulated desk".into()],
                speed: Speed::High,
            },
        }
    }
}

impl Device for RootHub {
    fn descriptors(&self) -> &Descriptors {
        &self.descriptors
    }

    fn control(&mut self, _: Setup, _: &[u8]) -> Result<Vec<u8>, Fault> {
        Err(Fault::Stall)
    }

    fn bulk_out(&mut self, _: u8, _: &[u8]) -> Result<(), Fault> {
        Err(Fault::Stall)
    }

    fn bulk_in(&mut self, _: u8, _: usize) -> Result<Option<Vec<u8>>, Fault> {
        Ok(None) // no status changes
    }
}
