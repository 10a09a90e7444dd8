//! Memory beside the main flash: OTP area, device signature, option bytes (RM0368 §3.3 table 5,
//! §3.6.1, §24).

use super::Soc;
use cortex_m::bus::{Fault, Width};
use std::ops::RangeInclusive;

const SYSTEM_MEMORY: RangeInclusive<u32> = 0x1FFF_0000..=0x1FFF_FFFF;
const OTP: RangeInclusive<u32> = 0x1FFF_7800..=0x1FFF_7A0F;
const UNIQUE_ID: u32 = 0x1FFF_7A10;
const FLASH_KIB: u32 = 0x1FFF_7A20;
const USER_OPTIONS: u32 = 0x1FFF_C000;
const WRITE_PROTECTION: u32 = 0x1FFF_C008;
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
        let (user, write_protection) = self.flash.option_bytes();
        match address {
            _ if OTP.contains(&address) => Some(u32::MAX),
            UNIQUE_ID..FLASH_KIB if address < UNIQUE_ID + 12 => {
                Some(IDENTITY[(address - UNIQUE_ID) as usize / 4])
            }
            // The size is in the upper half. The lower half is reserved.
            FLASH_KIB => Some((self.memory.chip().flash_bytes as u32 / 1024) << 16 | 0xFFFF),
            USER_OPTIONS => Some(0xFFFF_0000 | user),
            WRITE_PROTECTION => Some(0xFFFF_0000 | write_protection),
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
