//! What the private peripheral bus has and the model lacks: its name, and of which kind it is.

use crate::access::Access;
use crate::bus::{Lack, Width};
use crate::memory_map::{AIRCR, DWT_COMPARATORS, DWT_CTRL, FPB};

const UNIT_BYTES: u32 = 0x1000;

/// The units by their address (table B3-1; TPIU and ETM: RM0368, 23.17 and 23.15).
const UNITS: [(u32, &str); 7] = [
    (0xE000_0000, "ITM"),
    (DWT, "DWT"),
    (FPB_UNIT, "FPB"),
    (0xE000_E000, "SCS"),
    (TPIU, "TPIU"),
    (ETM, "ETM"),
    (0xE00F_F000, "ROM_TABLE"),
];
const DWT: u32 = 0xE000_1000;
const FPB_UNIT: u32 = 0xE000_2000;
const TPIU: u32 = 0xE004_0000;
const ETM: u32 = 0xE004_1000;

/// The registers that every CoreSight unit may have (ARM IHI 0029, B2.2).
const MANAGEMENT: [(u32, &str); 8] = [
    (0xF00, "ITCTRL"),
    (0xFA0, "CLAIMSET"),
    (0xFA4, "CLAIMCLR"),
    (0xFB0, "LAR"),
    (0xFB4, "LSR"),
    (0xFB8, "AUTHSTATUS"),
    (0xFC8, "DEVID"),
    (0xFCC, "DEVTYPE"),
];
/// The TPIU's own (C1.10).
const OF_TPIU: [(u32, &str); 6] = [
    (0x000, "SSPSR"),
    (0x004, "CSPSR"),
    (0x010, "ACPR"),
    (0x0F0, "SPPR"),
    (0x300, "FFSR"),
    (0x304, "FFCR"),
];

/// `DWT_LAR`, `FPB+0x40`.
pub fn name(address: u32) -> String {
    let (base, offset) = (address & !(UNIT_BYTES - 1), address & (UNIT_BYTES - 1) & !3);
    let Some(&(_, unit)) = UNITS.iter().find(|(at, _)| *at == base) else {
        return "a register of the private peripheral bus".into();
    };
    let own: &[(u32, &str)] = if base == TPIU { &OF_TPIU } else { &[] };
    match MANAGEMENT.iter().chain(own).find(|(at, _)| *at == offset) {
        Some((_, register)) => format!("{unit}_{register}"),
        None => format!("{unit}+{offset:#x}"),
    }
}

/// Of which kind a refused access is.
pub fn lack(address: u32, width: Width, access: Access) -> Lack {
    let writes = access == Access::Write;
    match address & !(UNIT_BYTES - 1) {
        TPIU | ETM => Lack::Unit,
        base if UNITS.iter().all(|(at, _)| *at != base) => Lack::Mode,
        // B3.1.1: bytes and halfwords of a word register are UNPREDICTABLE.
        _ if width != Width::Word => Lack::Mode,
        // The TRM's DWT and FPB have no lock (tables 10-1 and 9-1), whatever start-up code writes.
        DWT | FPB_UNIT if matches!(address & (UNIT_BYTES - 1), 0xFB0 | 0xFB4) => Lack::Reserved,
        _ if writes && address == DWT_CTRL => Lack::Bits,
        _ if writes && (address == AIRCR || compares(address)) => Lack::Mode,
        _ => Lack::Register,
    }
}

/// Whether it is a register of a comparator, which the unit has.
fn compares(address: u32) -> bool {
    match address {
        _ if DWT_COMPARATORS.contains(&address) => address % 16 != 12,
        _ => FPB.contains(&address) && address < FPB.start() + 0x28,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_have_the_names_of_the_manual() {
        for (address, told) in [
            (0xE000_1FB0, "DWT_LAR"),
            (0xE000_2FB4, "FPB_LSR"),
            (0xE004_0304, "TPIU_FFCR"),
            (0xE004_1304, "ETM+0x304"),
            (0xE000_1FA1, "DWT_CLAIMSET"),
            (0xE000_3000, "a register of the private peripheral bus"),
        ] {
            assert_eq!(name(address), told);
        }
    }

    #[test]
    fn what_only_has_no_effect_is_no_mode() {
        let write = |address| lack(address, Width::Word, Access::Write);
        assert_eq!(write(0xE000_1FB0), Lack::Reserved);
        assert_eq!(write(0xE000_0F00), Lack::Register);
        assert_eq!(write(0xE000_1000), Lack::Bits);
        assert_eq!(write(0xE004_0304), Lack::Unit);
        for mode in [0xE000_2008, 0xE000_1028, 0xE000_ED0C, 0xE000_3000] {
            assert_eq!(write(mode), Lack::Mode, "{mode:#x}");
        }
        let narrow = lack(0xE000_EDFC, Width::Byte, Access::Read);
        assert_eq!(narrow, Lack::Mode);
        // Reserved words behind the comparators.
        for free in [0xE000_102C, 0xE000_2028] {
            assert_eq!(write(free), Lack::Register, "{free:#x}");
        }
    }
}
