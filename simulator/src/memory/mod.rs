//! Flash and SRAM of the STM32F401RE, and what fills them before the machine starts.

pub mod elf;
pub mod image;
mod near_misses;

use crate::bus::Width;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::ops::Range;
use thiserror::Error;

/// RM0368 §2.3: main flash memory of the STM32F401xE.
pub const FLASH_BASE: u32 = 0x0800_0000;
pub const FLASH_BYTES: usize = 512 * 1024;
/// RM0368 §2.3.1: SRAM of the STM32F401xE.
pub const SRAM_BASE: u32 = 0x2000_0000;
pub const SRAM_BYTES: usize = 96 * 1024;

#[derive(Debug, Error, PartialEq, Eq)]
#[error("{bytes} bytes at {address:#010x} do not fit the flash (512 KiB at 0x08000000) or the SRAM (96 KiB at 0x20000000)")]
pub struct OutsideMemory {
    pub address: u32,
    pub bytes: usize,
}

/// Both memories. Erased flash reads ones; SRAM, undefined at power-up on the chip, starts as zeros here.
#[derive(Clone, Serialize, Deserialize)]
pub struct Memory {
    #[serde(
        serialize_with = "serde_bytes::serialize",
        deserialize_with = "whole_flash"
    )]
    flash: Box<[u8]>,
    #[serde(
        serialize_with = "serde_bytes::serialize",
        deserialize_with = "whole_sram"
    )]
    sram: Box<[u8; SRAM_BYTES]>,
}

fn whole_flash<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<[u8]>, D::Error> {
    whole(deserializer, FLASH_BYTES)
}

fn whole_sram<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Box<[u8; SRAM_BYTES]>, D::Error> {
    let bytes = whole(deserializer, SRAM_BYTES)?;
    Ok(bytes.try_into().expect("it has been counted"))
}

/// A memory of the size that the chip has.
fn whole<'de, D: Deserializer<'de>>(deserializer: D, size: usize) -> Result<Box<[u8]>, D::Error> {
    let bytes: Box<[u8]> = serde_bytes::deserialize(deserializer)?;
    if bytes.len() == size {
        Ok(bytes)
    } else {
        Err(D::Error::invalid_length(
            bytes.len(),
            &"the chip's memory size",
        ))
    }
}

impl Default for Memory {
    fn default() -> Self {
        Memory {
            flash: vec![0xFF; FLASH_BYTES].into_boxed_slice(),
            sram: vec![0; SRAM_BYTES].try_into().expect("so many were made"),
        }
    }
}

impl Memory {
    /// Places bytes as a programmer would, before reset.
    pub fn load(&mut self, address: u32, bytes: &[u8]) -> Result<(), OutsideMemory> {
        let outside = || OutsideMemory {
            address,
            bytes: bytes.len(),
        };
        let (memory, base) = if address >= SRAM_BASE {
            (&mut self.sram[..], SRAM_BASE)
        } else {
            (&mut self.flash[..], FLASH_BASE)
        };
        let start = address.checked_sub(base).ok_or_else(outside)? as usize;
        let cells = memory.get_mut(start..start.saturating_add(bytes.len()));
        cells.ok_or_else(outside)?.copy_from_slice(bytes);
        Ok(())
    }

    /// The whole SRAM, from its base.
    pub fn sram(&self) -> &[u8] {
        &*self.sram
    }

    /// So many bytes of the SRAM from an address on; `None` if not all of them are in it.
    #[inline]
    pub fn sram_at(&mut self, address: u32, bytes: u32) -> Option<&mut [u8]> {
        let start = address.wrapping_sub(SRAM_BASE) as usize;
        self.sram.get_mut(start..start.checked_add(bytes as usize)?)
    }

    /// A byte, halfword or word of the SRAM; `None` if its address is not aligned, or not there.
    #[inline]
    pub fn sram_aligned<const N: usize>(&mut self, address: u32) -> Option<&mut [u8; N]> {
        // What is not aligned becomes a number beyond all of that size: one comparison does.
        let offset = address.wrapping_sub(SRAM_BASE);
        let number = offset.rotate_right(N.trailing_zeros()) as usize;
        if number >= SRAM_BYTES / N {
            return None;
        }
        self.sram[number * N..].first_chunk_mut()
    }

    /// Whether these bytes are at this address.
    pub fn holds(&self, address: u32, bytes: &[u8]) -> bool {
        let place = self.place(address);
        place.is_some_and(|(memory, start)| memory[start..].starts_with(bytes))
    }

    /// Reads memory at any alignment; `None` where there is none.
    #[inline]
    pub fn read(&self, address: u32, width: Width) -> Option<u32> {
        let (bytes, start) = self.place(address)?;
        load_little_endian(bytes, start, width)
    }

    /// Writes SRAM at any alignment; `None` where there is none, flash included.
    #[inline]
    pub fn write(&mut self, address: u32, width: Width, value: u32) -> Option<()> {
        let start = address.wrapping_sub(SRAM_BASE) as usize;
        let count = width.bytes() as usize;
        let place = self.sram.get_mut(start..start.checked_add(count)?)?;
        place.copy_from_slice(&value.to_le_bytes()[..count]);
        Some(())
    }

    /// Where in the flash an address lies, if it does.
    pub fn in_flash(address: u32) -> Option<usize> {
        Some(flash_offset(address)).filter(|offset| *offset < FLASH_BYTES)
    }

    /// Programs flash: bits only fall (RM0368 §3.5.4). The flash interface has admitted the place and width.
    pub fn program(&mut self, offset: usize, width: Width, value: u32) {
        let cells = &mut self.flash[offset..offset + width.bytes() as usize];
        for (cell, byte) in cells.iter_mut().zip(value.to_le_bytes()) {
            *cell &= byte;
        }
    }

    /// Erases bytes of the flash, from its start: all ones.
    pub fn erase(&mut self, bytes: Range<usize>) {
        self.flash[bytes].fill(0xFF);
    }

    /// The address of the same byte with the flash at its base, for code that runs from the alias at 0.
    pub fn canonical(address: u32) -> u32 {
        if (address as usize) < FLASH_BYTES {
            FLASH_BASE + address
        } else {
            address
        }
    }

    /// The other address of a byte of flash: the alias at 0.
    pub fn alias(address: u32) -> Option<u32> {
        let offset = address.checked_sub(FLASH_BASE)?;
        ((offset as usize) < FLASH_BYTES).then_some(offset)
    }

    #[inline]
    fn place(&self, address: u32) -> Option<(&[u8], usize)> {
        let in_sram = address.wrapping_sub(SRAM_BASE) as usize;
        if in_sram < SRAM_BYTES {
            return Some((&*self.sram, in_sram));
        }
        let in_flash = flash_offset(address);
        (in_flash < FLASH_BYTES).then_some((&*self.flash, in_flash))
    }
}

/// With BOOT0 low the flash also answers from address 0 (RM0368 §2.4).
#[inline]
fn flash_offset(address: u32) -> usize {
    if (address as usize) < FLASH_BYTES {
        address as usize
    } else {
        address.wrapping_sub(FLASH_BASE) as usize
    }
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
        for near in [0, SRAM_BASE, SRAM_BASE + SRAM_BYTES as u32, 0xFFFF_FFF0] {
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
        memory.program(0x4000, Width::Word, 0xFFFF_0FF0);
        memory.program(0x4000, Width::Half, 0xF0F0);
        assert_eq!(memory.read(0x0800_4000, Width::Word), Some(0xFFFF_00F0));
        memory.program(0x3FFF, Width::Byte, 0);
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
