//! The regions of the address space that the architecture fixes (B3.1, table B3-1).

use std::ops::RangeInclusive;

/// The Code region, which the I-Code and D-Code buses serve, ends where the SRAM region begins.
pub const CODE_END: u32 = 0x2000_0000;
pub const SRAM_START: u32 = CODE_END;
/// The SRAM region below its bit-band alias. Stores elsewhere, also to flash, may have effects.
pub const SRAM_BYTES: u32 = 0x0200_0000;
/// Memory in the Code region that is no flash: the core coupled memory of some chips, which answers
/// without waiting (RM0090 §2.3.1).
const CORE_COUPLED: RangeInclusive<u32> = 0x1000_0000..=0x1000_FFFF;
/// Normal memory serves unaligned accesses (A3.2.1). From here on there are devices.
pub const NORMAL_MEMORY_END: u32 = 0x4000_0000;

const PRIVATE_BUS: RangeInclusive<u32> = 0xE000_0000..=0xE00F_FFFF;
pub const DWT_CTRL: u32 = 0xE000_1000;
pub const ICSR: u32 = 0xE000_ED04;
pub const AIRCR: u32 = 0xE000_ED0C;
pub const SHCSR: u32 = 0xE000_ED24;
pub const DEMCR: u32 = 0xE000_EDFC;
/// The registers of the comparators of DWT and FPB.
pub const DWT_COMPARATORS: RangeInclusive<u32> = 0xE000_1020..=0xE000_105F;
pub const FPB: RangeInclusive<u32> = 0xE000_2000..=0xE000_202F;
/// Where a core of the main line has TPIU, ETM and what a maker adds. Below the ROM table.
pub const TRACE_UNITS: RangeInclusive<u32> = 0xE004_0000..=0xE00F_EFFF;
/// DBGMCU lies within the private bus's addresses but belongs to the SoC (RM0368, 23.16).
const DBGMCU: RangeInclusive<u32> = 0xE004_2000..=0xE004_23FF;

/// Whether the core's own peripherals answer at the address.
pub fn is_private(address: u32) -> bool {
    PRIVATE_BUS.contains(&address) && !DBGMCU.contains(&address)
}

/// Whether the address is of the Code region's flash, or where flash could be.
#[inline(always)]
pub fn is_flash(address: u32) -> bool {
    address < CODE_END && !CORE_COUPLED.contains(&address)
}

/// Whether no instruction may be fetched here: peripherals, devices and the system.
pub fn execute_never(address: u32) -> bool {
    matches!(address >> 29, 2 | 5..=7)
}

/// Whether the address is in the bit-band alias of the SRAM.
#[inline(always)]
pub fn is_sram_alias(address: u32) -> bool {
    address >> 25 == 0x11
}

/// The word and the bit behind an address in a bit-band alias (TRM 3.7).
pub fn bit_band(address: u32) -> Option<(u32, u32)> {
    if !matches!(address >> 25, 0x11 | 0x21) {
        return None;
    }
    let offset = address & 0x01FF_FFFF;
    Some((address & 0xE000_0000 | offset >> 5 & !3, offset >> 2 & 31))
}
