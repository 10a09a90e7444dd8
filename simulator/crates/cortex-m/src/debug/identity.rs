//! What a debugger finds when it looks for components: the ROM table and the identification
//! registers (C1.2, TRM 9–11; of a Cortex-M0 DDI 0419C, C1.2).

const ROM_TABLE: u32 = 0xE00F_F000;
const ITM: u32 = 0xE000_0000;
const SCS: u32 = 0xE000_E000;
const DWT: u32 = 0xE000_1000;
const FPB: u32 = 0xE000_2000;

/// The chip's components (RM0368, table 125), as offsets from the table. Bit 0: present. TPIU and
/// ETM are not modelled, so they are absent.
const ENTRIES: [u32; 6] = [
    0xFFF0_F003,
    0xFFF0_2003,
    0xFFF0_3003,
    0xFFF0_1003,
    0xFFF4_1002,
    0xFFF4_2002,
];
/// The bus has memory that can be read through it (table C1-3).
const MEMORY_TYPE_SYSTEM: u32 = 1;

struct Identity {
    base: u32,
    /// PIDR4, then PIDR0–3.
    peripheral: [u8; 5],
    /// CIDR1: the class.
    class: u8,
}

/// From TRM tables 8-3, 8-7, 9-1 and 10-1. ARM's generic IP has class 0xE, a ROM table has class 1.
/// ST's code is 0x20, the device is 0x433.
const IDENTITIES: [Identity; 5] = [
    Identity {
        base: ROM_TABLE,
        peripheral: [0x00, 0x33, 0x04, 0x0A, 0x00],
        class: 0x10,
    },
    Identity {
        base: ITM,
        peripheral: [0x04, 0x01, 0xB0, 0x3B, 0x00],
        class: 0xE0,
    },
    Identity {
        base: SCS,
        peripheral: [0x04, 0x0C, 0xB0, 0x0B, 0x00],
        class: 0xE0,
    },
    Identity {
        base: DWT,
        peripheral: [0x04, 0x02, 0xB0, 0x3B, 0x00],
        class: 0xE0,
    },
    Identity {
        base: FPB,
        peripheral: [0x04, 0x03, 0xB0, 0x2B, 0x00],
        class: 0xE0,
    },
];

/// A Cortex-M0 has no ITM, no trace and no remapping: SCS, DWT and a breakpoint unit (DDI 0432C, 6.1).
const BASELINE_ENTRIES: [u32; 3] = [0xFFF0_F003, 0xFFF0_2003, 0xFFF0_3003];

/// Their parts of ARM's generic IP for ARMv6-M are 0x008, 0x00A and 0x00B. ST's device is 0x448
/// (RM0091 §32.4.1).
const BASELINE_IDENTITIES: [Identity; 4] = [
    Identity {
        base: ROM_TABLE,
        peripheral: [0x00, 0x48, 0x04, 0x0A, 0x00],
        class: 0x10,
    },
    Identity {
        base: SCS,
        peripheral: [0x04, 0x08, 0xB0, 0x0B, 0x00],
        class: 0xE0,
    },
    Identity {
        base: DWT,
        peripheral: [0x04, 0x0A, 0xB0, 0x0B, 0x00],
        class: 0xE0,
    },
    Identity {
        base: FPB,
        peripheral: [0x04, 0x0B, 0xB0, 0x0B, 0x00],
        class: 0xE0,
    },
];

/// The value of an identification register or of an entry of the ROM table.
pub fn read(address: u32) -> Option<u32> {
    among(&IDENTITIES, &ENTRIES, address)
}

/// The same of a Cortex-M0.
pub fn read_baseline(address: u32) -> Option<u32> {
    among(&BASELINE_IDENTITIES, &BASELINE_ENTRIES, address)
}

fn among(identities: &[Identity], entries: &[u32], address: u32) -> Option<u32> {
    let identity = identities.iter().find(|i| i.base == address & !0xFFF)?;
    match address & 0xFFF {
        // DEVARCH is younger than ARMv7-M, where its place is reserved and reads as zero. OpenOCD
        // asks the DWT for it (src/target/cortex_m.c, cortex_m_dwt_setup).
        0xFBC => Some(0),
        0xFD0 => Some(identity.peripheral[0].into()),
        0xFD4..=0xFDF => Some(0),
        offset @ 0xFE0..=0xFEF => {
            Some(identity.peripheral[1 + (offset - 0xFE0) as usize / 4].into())
        }
        0xFF0 => Some(0x0D),
        0xFF4 => Some(identity.class.into()),
        0xFF8 => Some(0x05),
        0xFFC => Some(0xB1),
        offset if identity.base == ROM_TABLE => Some(rom_table(entries, offset)),
        _ => None,
    }
}

fn rom_table(entries: &[u32], offset: u32) -> u32 {
    match offset {
        0xFCC => MEMORY_TYPE_SYSTEM,
        // The table ends with a zero. Reserved words read zero too.
        _ => entries.get(offset as usize / 4).copied().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every entry that is present leads to a component with the CoreSight preamble.
    #[test]
    fn the_table_leads_to_its_components() {
        // SCS, DWT, FPB, ITM; a Cortex-M0 has no ITM.
        for (read, components) in [(read as fn(u32) -> Option<u32>, 4), (read_baseline, 3)] {
            let mut found = 0;
            for offset in (0..).step_by(4) {
                let entry = read(ROM_TABLE + offset).unwrap();
                if entry == 0 {
                    break;
                }
                if entry & 1 != 0 {
                    let base = ROM_TABLE.wrapping_add(entry & !0xFFF);
                    assert_eq!(read(base + 0xFF0), Some(0x0D), "{base:#x}");
                    assert_eq!(read(base + 0xFFC), Some(0xB1), "{base:#x}");
                    found += 1;
                }
            }
            assert_eq!(found, components);
        }
    }
}
