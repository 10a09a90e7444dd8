//! Memory beside the main flash: OTP area, device signature, option bytes (RM0368 §3.3 table 5,
//! §3.6.1, §24; RM0351 §47; RM0008 §30; RM0091 §33).

use super::Soc;
use crate::peripherals::flash::FlashKind;
use cortex_m::bus::{Fault, Width};
use std::ops::RangeInclusive;

const SYSTEM_MEMORY: RangeInclusive<u32> = 0x1FFF_0000..=0x1FFF_FFFF;

/// Wafer and lot of a chip that does not exist: "TAILSCOPE401" as text.
const IDENTITY: [u32; 3] = [
    u32::from_le_bytes(*b"TAIL"),
    u32::from_le_bytes(*b"SCOP"),
    u32::from_le_bytes(*b"E401"),
];

impl Soc {
    /// A value from beside the flash. `None` at other addresses.
    pub(super) fn read_system_memory(
        &self,
        address: u32,
        width: Width,
    ) -> Option<Result<u32, Fault>> {
        if !SYSTEM_MEMORY.contains(&address) {
            return None;
        }
        let word = self.system_word(address & !3).ok_or(Fault::Unmodelled {
            what: "the boot loader's memory".into(),
            address,
        });
        Some(word.map(|word| word >> (address % 4 * 8) & width.mask()))
    }

    fn system_word(&self, address: u32) -> Option<u32> {
        let chip = self.memory.chip();
        let places = &self.line().system_memory;
        if places
            .otp
            .as_ref()
            .is_some_and(|otp| otp.contains(&address))
        {
            return Some(u32::MAX);
        }
        if places.options.contains(&address) {
            return self.option_word(address - places.options.start());
        }
        let (place, shift) = places.flash_kib;
        if address == place {
            // The other half is reserved.
            let kib = chip.flash_bytes as u32 / 1024;
            return Some(kib << shift | 0xFFFF << (16 - shift));
        }
        let n = address.wrapping_sub(places.unique_id) as usize / 4;
        IDENTITY.get(n).copied()
    }

    /// The option bytes as they stand in memory, as far as they are modelled.
    fn option_word(&self, offset: u32) -> Option<u32> {
        // Of a byte and its complement.
        let pair = |byte: u32| byte | (byte ^ 0xFF) << 8;
        let protected = self.logic.flash.is_protected();
        let facts = &self.line().flash;
        match (facts.kind, offset) {
            (FlashKind::Sectors, 0) => Some(0xFFFF_0000 | self.logic.flash.option_bytes().0),
            (FlashKind::Sectors, 8) => Some(0xFFFF_0000 | self.logic.flash.option_bytes().1),
            (FlashKind::DoubleWords, 0) => Some(self.logic.flash.options()),
            (FlashKind::DoubleWords, 4) => Some(!self.logic.flash.options()),
            (FlashKind::HalfWords, 0) => {
                let level = if protected { 0 } else { facts.open.into() };
                Some(pair(level) | pair(0xFF) << 16)
            }
            (FlashKind::HalfWords, _) => Some(pair(0xFF) | pair(0xFF) << 16),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use cortex_m::bus::Bus;

    #[test]
    fn the_signature_and_the_option_bytes_are_where_the_manual_has_them() {
        let mut soc = Soc::new(Memory::default());
        let mut read = |address, width| soc.read(address, width, 0).map(|loaded| loaded.value);
        assert_eq!(read(0x1FFF_7A22, Width::Half), Ok(512));
        assert_eq!(read(0x1FFF_7A10, Width::Byte), Ok(u32::from(b'T')));
        assert_eq!(read(0x1FFF_7800, Width::Word), Ok(u32::MAX));
        // RDP level 0 (0xAA), all user options set, no sector protected.
        assert_eq!(read(0x1FFF_C000, Width::Half), Ok(0xAAEC));
        assert_eq!(read(0x1FFF_C008, Width::Half), Ok(0x0FFF));
        assert!(matches!(
            read(0x1FFF_0000, Width::Word),
            Err(Fault::Unmodelled { .. })
        ));
    }
}
