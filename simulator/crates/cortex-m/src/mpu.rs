//! The Memory Protection Unit (B3.5): eight regions with subregions, on top of the default memory
//! map.

use crate::nvic::MEM_MANAGE;
use crate::trap::{cfsr, Exec, Fault, Trap};
use serde::{Deserialize, Serialize};

const REGIONS: usize = 8;
/// MPU_TYPE: eight unified regions (TRM table 5-1).
const TYPE: u32 = (REGIONS as u32) << 8;

const CTRL_ENABLE: u32 = 1 << 0;
const CTRL_HFNMIENA: u32 = 1 << 1;
const CTRL_PRIVDEFENA: u32 = 1 << 2;

const RBAR_VALID: u32 = 1 << 4;
const RBAR_REGION: u32 = 0xF;
const RASR_WRITABLE: u32 = 0x173F_FF3F;
const RASR_ENABLE: u32 = 1 << 0;
const RASR_XN: u32 = 1 << 28;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    Read,
    Write,
    Execute,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Region {
    base: u32,
    /// RASR.
    attributes: u32,
}

#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Mpu {
    control: u32,
    selected: usize,
    regions: [Region; REGIONS],
}

impl Region {
    /// log2 of the region's bytes. Sizes below 32 bytes are UNPREDICTABLE; here they are 32.
    fn size_log2(self) -> u32 {
        (self.attributes >> 1 & 31).max(4) + 1
    }

    fn covers(self, address: u32) -> bool {
        if self.attributes & RASR_ENABLE == 0 {
            return false;
        }
        let size_log2 = self.size_log2();
        let inside = u64::from(address ^ self.base) >> size_log2 == 0;
        inside && !self.subregion_disabled(address, size_log2)
    }

    /// Regions of 256 bytes and more have eight subregions (B3.5.1).
    fn subregion_disabled(self, address: u32, size_log2: u32) -> bool {
        if size_log2 < 8 {
            return false;
        }
        let subregion = address >> (size_log2 - 3) & 7;
        self.attributes >> (8 + subregion) & 1 != 0
    }

    /// Access permissions (table B3-15).
    fn permits(self, intent: Intent, privileged: bool) -> bool {
        let (read, write) = match self.attributes >> 24 & 7 {
            0b000 => (false, false),
            0b001 => (privileged, privileged),
            0b010 => (true, privileged),
            0b011 => (true, true),
            0b101 => (privileged, false),
            0b110 | 0b111 => (true, false),
            // Reserved: UNPREDICTABLE. No access is the safe choice.
            _ => (false, false),
        };
        match intent {
            Intent::Read => read,
            Intent::Write => write,
            Intent::Execute => read && self.attributes & RASR_XN == 0,
        }
    }

    /// Strongly-ordered or Device (table B3-13): TEX = 0 with C = 0, or TEX = 2 with C = 0.
    fn is_device(self) -> bool {
        matches!(self.attributes >> 19 & 7, 0 | 2) && self.attributes >> 17 & 1 == 0
    }
}

impl Mpu {
    #[inline(always)]
    pub fn enabled(&self) -> bool {
        self.control & CTRL_ENABLE != 0
    }

    /// Registers by their offset from MPU_TYPE.
    pub fn read(&self, offset: u32) -> u32 {
        let region = self.regions[self.selected];
        match offset {
            0x00 => TYPE,
            0x04 => self.control,
            0x08 => self.selected as u32,
            0x0C | 0x14 | 0x1C | 0x24 => region.base | self.selected as u32,
            _ => region.attributes,
        }
    }

    pub fn write(&mut self, offset: u32, value: u32) {
        match offset {
            0x00 => {}
            0x04 => self.control = value & (CTRL_ENABLE | CTRL_HFNMIENA | CTRL_PRIVDEFENA),
            0x08 => self.selected = value as usize % REGIONS,
            0x0C | 0x14 | 0x1C | 0x24 => self.write_base(value),
            _ => self.regions[self.selected].attributes = value & RASR_WRITABLE,
        }
    }

    fn write_base(&mut self, value: u32) {
        if value & RBAR_VALID != 0 {
            self.selected = (value & RBAR_REGION) as usize % REGIONS;
        }
        self.regions[self.selected].base = value & !0x1F;
    }

    /// Of all regions that cover `address`, the one with the highest number decides.
    fn region_at(&self, address: u32) -> Option<Region> {
        let covering = |region: &&Region| region.covers(address);
        self.regions.iter().rev().find(covering).copied()
    }

    fn permits(&self, address: u32, intent: Intent, privileged: bool) -> bool {
        match self.region_at(address) {
            Some(region) => region.permits(intent, privileged),
            None => privileged && self.control & CTRL_PRIVDEFENA != 0,
        }
    }

    /// In HardFault and NMI, and with FAULTMASK, the MPU acts only if HFNMIENA is set.
    fn applies_at(&self, execution_priority: i16) -> bool {
        self.enabled() && (self.control & CTRL_HFNMIENA != 0 || execution_priority >= 0)
    }

    /// `ValidateAddress` (B3.5.3) for the first and the last byte of a data access. The MPU does
    /// not check the private bus.
    pub fn check(
        &self,
        address: u32,
        bytes: u32,
        intent: Intent,
        execution_priority: i16,
        privileged: bool,
    ) -> Exec<()> {
        let last = address.wrapping_add(bytes - 1);
        if address >> 20 == 0xE00 || !self.applies_at(execution_priority) {
            return Ok(());
        }
        if [address, last]
            .iter()
            .all(|byte| self.permits(*byte, intent, privileged))
        {
            let device = self.region_at(address).is_some_and(Region::is_device);
            if device && address & (bytes - 1) != 0 {
                return Err(Trap::usage(cfsr::UNALIGNED));
            }
            return Ok(());
        }
        Err(Trap::Fault(Fault {
            exception: MEM_MANAGE,
            cfsr: cfsr::DACCVIOL,
            address: Some(address),
        }))
    }

    /// Whether an instruction may be fetched here. `execute_never` checks the default memory map.
    pub fn may_execute(&self, address: u32, execution_priority: i16, privileged: bool) -> bool {
        !self.applies_at(execution_priority) || self.permits(address, Intent::Execute, privileged)
    }
}
