//! The least that the core's own tests need around it: a flash and an SRAM.

use crate::bus::{Bus, Fault, Loaded, Width};

pub const FLASH: u32 = 0x0800_0000;
pub const SRAM: u32 = 0x2000_0000;
/// The size of each.
pub const BYTES: usize = 4_096;

#[derive(Clone, Default)]
pub struct TwoMemories {
    pub flash: Vec<u8>,
    pub sram: Vec<u8>,
}

impl TwoMemories {
    fn at(&self, address: u32, bytes: u32) -> Result<&[u8], Fault> {
        let (memory, base) = match address {
            FLASH..SRAM => (&self.flash, FLASH),
            _ => (&self.sram, SRAM),
        };
        let start = address.wrapping_sub(base) as usize;
        let found = memory.get(start..start.saturating_add(bytes as usize));
        found.ok_or(Fault::Bus { address })
    }
}

impl Bus for TwoMemories {
    fn fetch(&mut self, address: u32) -> Result<u16, Fault> {
        let found = self.at(address, 2)?;
        Ok(u16::from_le_bytes([found[0], found[1]]))
    }

    fn read(&mut self, address: u32, width: Width, _now: u64) -> Result<Loaded, Fault> {
        let found = self.at(address, width.bytes())?.iter().rev();
        Ok(Loaded {
            value: found.fold(0, |value, &byte| value << 8 | u32::from(byte)),
            wait_cycles: 0,
        })
    }

    fn write(&mut self, address: u32, width: Width, value: u32, _now: u64) -> Result<u32, Fault> {
        let memory = self.plain_memory(address, width.bytes());
        let bytes = memory.ok_or(Fault::Bus { address })?;
        bytes.copy_from_slice(&value.to_le_bytes()[..width.bytes() as usize]);
        Ok(0)
    }

    fn plain_memory(&mut self, address: u32, bytes: u32) -> Option<&mut [u8]> {
        let start = address.wrapping_sub(SRAM) as usize;
        self.sram.get_mut(start..start.checked_add(bytes as usize)?)
    }

    fn plain_bytes<const N: usize>(&mut self, address: u32) -> Option<&mut [u8; N]> {
        let aligned = address as usize % N == 0;
        let memory = aligned.then(|| self.plain_memory(address, N as u32))??;
        memory.try_into().ok()
    }

    fn attention(&self) -> bool {
        false
    }
}
