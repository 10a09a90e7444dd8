//! Flash, SRAM and core coupled memory of the chip, and what fills them before the machine starts.

pub mod elf;
mod elf_core;
pub mod image;
mod near_misses;

use crate::chip::{
    nucleo, Chip, CCM_BASE, FLASH_BASE, MOST_FLASH_BYTES, MOST_SRAM_BYTES, SRAM_BASE,
};
use crate::chip_file;
use cortex_m::bus::Width;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_bytes::{ByteBuf, Bytes};
use std::iter::repeat_n;
use std::ops::Range;
use std::sync::Arc;
use thiserror::Error;

#[derive(Debug, Error, PartialEq, Eq)]
#[error("{bytes} bytes at {address:#010x} do not fit the {}", memories(chip))]
pub struct OutsideMemory {
    pub address: u32,
    pub bytes: usize,
    pub chip: &'static Chip,
}

/// The memories of a chip in words: "flash (512 KiB at 0x08000000) or the SRAM (...)".
fn memories(chip: &Chip) -> String {
    let kib = |bytes: usize| bytes / 1024;
    let ccm = match kib(chip.ccm_bytes) {
        0 => String::new(),
        size => format!(" or the CCM ({size} KiB at {CCM_BASE:#010x})"),
    };
    format!(
        "flash ({} KiB at {FLASH_BASE:#010x}) or the SRAM ({} KiB at {SRAM_BASE:#010x}){ccm} of the {}; --chip names another chip",
        kib(chip.flash_bytes),
        kib(chip.sram_bytes),
        chip.name
    )
}

/// All memories. Erased flash reads ones. SRAM is undefined at power-up on the chip; here it starts
/// as zeros.
#[derive(Clone)]
pub struct Memory {
    chip: &'static Chip,
    /// Copies of a machine share it until one of them programs or erases.
    flash: Arc<[u8]>,
    /// The first `chip.sram_bytes` of it are there. An array, so that they need no second check.
    sram: Box<[u8; MOST_SRAM_BYTES]>,
    /// `chip.sram_bytes`.
    sram_bytes: usize,
    /// Those of them that never let a load wait.
    first_sram_bytes: usize,
    ccm: Box<[u8]>,
}

impl Serialize for Memory {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = |memory| Bytes::new(memory);
        (
            (&self.chip.name, &self.chip.table),
            bytes(&self.flash),
            bytes(self.sram()),
            bytes(&self.ccm),
        )
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Memory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ((name, table), flash, sram, ccm) =
            <((String, Option<String>), ByteBuf, ByteBuf, ByteBuf)>::deserialize(deserializer)?;
        let chip = match table {
            None => Chip::named(&name).map_err(D::Error::custom)?,
            Some(table) => chip_file::known(&table).map_err(D::Error::custom)?,
        };
        let mut memory = Memory::of(chip);
        for (cells, bytes) in [
            (Arc::make_mut(&mut memory.flash), flash),
            (&mut memory.sram[..chip.sram_bytes], sram),
            (&mut memory.ccm[..], ccm),
        ] {
            if cells.len() != bytes.len() {
                let size = bytes.len();
                return Err(D::Error::invalid_length(size, &"the chip's memory size"));
            }
            cells.copy_from_slice(&bytes);
        }
        Ok(memory)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Memory::of(nucleo())
    }
}

impl Memory {
    /// The memories of a chip as they leave the factory.
    pub fn of(chip: &'static Chip) -> Memory {
        let sram: Box<[u8]> = vec![0; MOST_SRAM_BYTES].into_boxed_slice();
        Memory {
            chip,
            flash: repeat_n(0xFF, chip.flash_bytes).collect(),
            sram: sram.try_into().expect("so many were made"),
            sram_bytes: chip.sram_bytes,
            first_sram_bytes: chip.sram_bytes - chip.second_sram_bytes,
            ccm: vec![0; chip.ccm_bytes].into_boxed_slice(),
        }
    }

    pub fn chip(&self) -> &'static Chip {
        self.chip
    }

    /// Places bytes as a programmer does, before reset.
    pub fn load(&mut self, address: u32, bytes: &[u8]) -> Result<(), OutsideMemory> {
        let outside = || OutsideMemory {
            address,
            bytes: bytes.len(),
            chip: self.chip,
        };
        let (memory, base) = if address >= SRAM_BASE {
            (&mut self.sram[..self.sram_bytes], SRAM_BASE)
        } else if address >= CCM_BASE {
            (&mut self.ccm[..], CCM_BASE)
        } else {
            (Arc::make_mut(&mut self.flash), FLASH_BASE)
        };
        let start = address.checked_sub(base).ok_or_else(outside)? as usize;
        let cells = memory.get_mut(start..start.saturating_add(bytes.len()));
        cells.ok_or_else(outside)?.copy_from_slice(bytes);
        Ok(())
    }

    /// The whole SRAM, from its base.
    pub fn sram(&self) -> &[u8] {
        &self.sram[..self.sram_bytes]
    }

    /// Whether a stack may begin at this address, its end: in the SRAM or the core coupled memory.
    pub fn can_hold_stack(&self, top: u32) -> bool {
        let within = |base: u32, bytes: usize| {
            let offset = top.wrapping_sub(base) as usize;
            offset > 0 && offset <= bytes
        };
        within(SRAM_BASE, self.sram_bytes) || within(CCM_BASE, self.ccm.len())
    }

    /// `bytes` bytes of the SRAM from `address` on. `None` if the SRAM does not hold all of them.
    #[inline]
    pub fn sram_at(&mut self, address: u32, bytes: u32) -> Option<&mut [u8]> {
        let start = address.wrapping_sub(SRAM_BASE) as usize;
        let end = start.checked_add(bytes as usize)?;
        self.sram[..self.sram_bytes].get_mut(start..end)
    }

    /// Whether this address is in the chip's SRAM2, whose loads may wait.
    #[inline]
    pub fn is_second_sram(&self, address: u32) -> bool {
        let offset = address.wrapping_sub(SRAM_BASE) as usize;
        (self.first_sram_bytes..self.sram_bytes).contains(&offset)
    }

    #[inline]
    pub fn has_second_sram(&self) -> bool {
        self.first_sram_bytes < self.sram_bytes
    }

    /// A byte, halfword or word of the SRAM. `None` if the address is not aligned or not in the
    /// SRAM, or if loading it may wait.
    #[inline]
    pub fn sram_aligned<const N: usize>(&mut self, address: u32) -> Option<&mut [u8; N]> {
        // An offset that is not aligned becomes a number above all others. So one comparison is
        // enough.
        let offset = address.wrapping_sub(SRAM_BASE);
        let number = offset.rotate_right(N.trailing_zeros()) as usize;
        if number >= self.first_sram_bytes / N {
            return None;
        }
        self.sram[number * N..].first_chunk_mut()
    }

    /// Whether these bytes are at this address.
    pub fn holds(&self, address: u32, bytes: &[u8]) -> bool {
        let place = self.place(address);
        place.is_some_and(|(memory, start)| memory[start..].starts_with(bytes))
    }

    /// Reads memory at any alignment. `None` if there is none.
    #[inline]
    pub fn read(&self, address: u32, width: Width) -> Option<u32> {
        let (bytes, start) = self.place(address)?;
        load_little_endian(bytes, start, width)
    }

    /// Writes SRAM at any alignment. `None` elsewhere, also in flash.
    #[inline]
    pub fn write(&mut self, address: u32, width: Width, value: u32) -> Option<()> {
        store_little_endian(self.sram_at(address, width.bytes())?, value);
        Some(())
    }

    /// Reads core coupled memory. `None` elsewhere.
    pub fn read_ccm(&self, address: u32, width: Width) -> Option<u32> {
        let start = address.wrapping_sub(CCM_BASE) as usize;
        load_little_endian(&self.ccm, start, width)
    }

    /// Writes core coupled memory. `None` elsewhere.
    pub fn write_ccm(&mut self, address: u32, width: Width, value: u32) -> Option<()> {
        let start = address.wrapping_sub(CCM_BASE) as usize;
        let end = start.checked_add(width.bytes() as usize)?;
        store_little_endian(self.ccm.get_mut(start..end)?, value);
        Some(())
    }

    /// The offset of an address in the flash. `None` elsewhere.
    pub fn in_flash(&self, address: u32) -> Option<usize> {
        Some(flash_offset(address)).filter(|offset| *offset < self.flash.len())
    }

    /// Programs flash, which only clears bits (RM0368 §3.5.4). The flash interface has allowed it.
    pub fn program(&mut self, offset: usize, bytes: &[u8]) {
        for (cell, byte) in Arc::make_mut(&mut self.flash)[offset..]
            .iter_mut()
            .zip(bytes)
        {
            *cell &= byte;
        }
    }

    /// The 8 bytes of the flash at an offset that is a multiple of 8.
    pub fn cell(&self, offset: usize) -> u64 {
        let bytes = self.flash[offset..].first_chunk();
        bytes.map_or(u64::MAX, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Erases bytes of the flash, counted from its start. They become ones.
    pub fn erase(&mut self, bytes: Range<usize>) {
        Arc::make_mut(&mut self.flash)[bytes].fill(0xFF);
    }

    /// The address of the same byte with the flash at its base. Code may run from the alias at 0.
    pub fn canonical(address: u32) -> u32 {
        if (address as usize) < MOST_FLASH_BYTES {
            FLASH_BASE + address
        } else {
            address
        }
    }

    /// The alias at 0 of a byte of flash. `None` elsewhere.
    pub fn alias(address: u32) -> Option<u32> {
        let offset = address.checked_sub(FLASH_BASE)?;
        ((offset as usize) < MOST_FLASH_BYTES).then_some(offset)
    }

    /// Where the code at an address executes from: there, and at the alias of the flash at 0.
    pub fn executed_from(address: u32) -> impl Iterator<Item = u32> {
        [Some(address), Memory::alias(address)]
            .into_iter()
            .flatten()
    }

    #[inline]
    fn place(&self, address: u32) -> Option<(&[u8], usize)> {
        let in_sram = address.wrapping_sub(SRAM_BASE) as usize;
        if in_sram < self.sram_bytes {
            return Some((&self.sram[..self.sram_bytes], in_sram));
        }
        let in_flash = flash_offset(address);
        (in_flash < self.flash.len()).then_some((&*self.flash, in_flash))
    }
}

/// With BOOT0 low the flash also answers from address 0 (RM0368 §2.4).
#[inline]
fn flash_offset(address: u32) -> usize {
    if (address as usize) < MOST_FLASH_BYTES {
        address as usize
    } else {
        address.wrapping_sub(FLASH_BASE) as usize
    }
}

#[inline(always)]
fn store_little_endian(place: &mut [u8], value: u32) {
    place.copy_from_slice(&value.to_le_bytes()[..place.len()]);
}

#[inline(always)]
fn load_little_endian(bytes: &[u8], start: usize, width: Width) -> Option<u32> {
    match bytes.get(start..start + 4) {
        Some(word) => Some(u32::from_le_bytes(word.try_into().ok()?) & width.mask()),
        None => load_from_the_end(bytes, start, width),
    }
}

#[cold]
fn load_from_the_end(bytes: &[u8], start: usize, width: Width) -> Option<u32> {
    let place = bytes.get(start..start + width.bytes() as usize)?;
    let mut word = [0; 4];
    word[..place.len()].copy_from_slice(place);
    Some(u32::from_le_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flash_answers_at_its_base_and_at_zero() {
        let mut memory = Memory::default();
        memory.load(0x0800_0004, &[0x78, 0x56, 0x34, 0x12]).unwrap();
        assert_eq!(memory.read(0x0800_0004, Width::Word), Some(0x1234_5678));
        assert_eq!(memory.read(0x0000_0005, Width::Half), Some(0x3456));
        assert_eq!(memory.read(0x0807_FFFF, Width::Byte), Some(0xFF));
        assert_eq!(memory.read(0x0807_FFFF, Width::Half), None);
        assert_eq!(memory.read(0x0808_0000, Width::Byte), None);
    }

    #[test]
    fn sram_ends_after_96_kib() {
        let mut memory = Memory::default();
        assert_eq!(memory.write(0x2001_7FFC, Width::Word, 7), Some(()));
        assert_eq!(memory.read(0x2001_7FFC, Width::Word), Some(7));
        assert_eq!(memory.write(0x2001_7FFD, Width::Word, 7), None);
        assert_eq!(memory.write(0x0800_0000, Width::Word, 7), None);
    }

    #[test]
    fn aligned_cells_of_the_sram_are_those_of_the_general_way() {
        fn compare<const N: usize>(memory: &mut Memory, address: u32) {
            let aligned = address % N as u32 == 0;
            let general = memory.sram_at(address, N as u32).filter(|_| aligned);
            let general = general.map(|cells| cells.as_ptr());
            let cells = memory.sram_aligned::<N>(address);
            assert_eq!(cells.map(|cells| cells.as_ptr()), general, "{address:#x}");
        }
        let mut memory = Memory::default();
        let end = SRAM_BASE + nucleo().sram_bytes as u32;
        for near in [0, SRAM_BASE, end, 0xFFFF_FFF0] {
            for address in (0..16).map(|n| near.wrapping_sub(8).wrapping_add(n)) {
                compare::<1>(&mut memory, address);
                compare::<2>(&mut memory, address);
                compare::<4>(&mut memory, address);
            }
        }
    }

    #[test]
    fn programming_clears_bits_and_erasing_sets_them() {
        let mut memory = Memory::default();
        memory.program(0x4000, &0xFFFF_0FF0_u32.to_le_bytes());
        memory.program(0x4000, &0xF0F0_u16.to_le_bytes());
        assert_eq!(memory.read(0x0800_4000, Width::Word), Some(0xFFFF_00F0));
        memory.program(0x3FFF, &[0]);
        memory.erase(0x4000..0x8000);
        assert_eq!(memory.read(0x0800_4000, Width::Word), Some(0xFFFF_FFFF));
        assert_eq!(memory.read(0x0800_3FFF, Width::Byte), Some(0));
    }

    #[test]
    fn loading_outside_is_refused() {
        let mut memory = Memory::default();
        assert!(memory.load(0x0807_FFFF, &[0, 0]).is_err());
        assert!(memory.load(0x1000_0000, &[0]).is_err());
        assert!(memory.load(0, &[0]).is_err());
        assert!(memory.load(0xFFFF_FFFF, &[0, 0]).is_err());
    }
}
