//! The private bus by what a core can: which registers it has, and which bits of those.
//!
//! What a core lacks is reserved there: it reads 0 and ignores writes (DDI 0419C, B3.2.2; DDI 0403E,
//! B3.1.1).

use crate::debug::identity;
use crate::memory_map::{DWT_CTRL, ICSR, SHCSR};
use crate::model::Facts;

const SHPR3: u32 = 0xE000_ED20;
const DEBUG_MONITOR_PRIORITY: u32 = 0xFF;
const RETTOBASE: u32 = 1 << 11;
pub const SVCALLPENDED: u32 = 1 << 15;
/// Two watchpoints, no cycle counter, no trace (DDI 0432C, 6.1).
const BASELINE_DWT_CTRL: u32 = 0x2000_0000;
const BP_CTRL: u32 = 0xE000_2000;
/// Four breakpoints, and whether they are on (DDI 0419C, C1.9.3).
const BASELINE_BP_CTRL: u32 = 4 << 4;
const BP_ENABLED: u32 = 1;
/// Where the identification registers of a component begin, within its 4 KiB.
const IDENTIFICATION: u32 = 0xFBC;
const ROM_TABLE: u32 = 0xE00F_F000;
/// How a core answers at an address.
pub enum Answer {
    AsWhole,
    Reserved,
    Only(u32),
}

pub fn answer(facts: &Facts, address: u32) -> Answer {
    if facts.mainline {
        mainline(facts, address)
    } else {
        baseline(facts, address)
    }
}

fn mainline(facts: &Facts, address: u32) -> Answer {
    match (address, facts.features) {
        (0xE000_ED40..=0xE000_ED73, Some(features)) => {
            Answer::Only(features[(address - 0xE000_ED40) as usize / 4])
        }
        (0xE000_ED88 | 0xE000_EF34..=0xE000_EF48, _) if !facts.float => Answer::Reserved,
        (0xE000_ED90..=0xE000_EDB8, _) if !facts.mpu => Answer::Reserved,
        _ => Answer::AsWhole,
    }
}

/// ARMv6-M: SysTick, 32 interrupts, and of the SCB: CPUID, ICSR, AIRCR, SCR, CCR, SHPR2, SHPR3,
/// SHCSR; VTOR and an MPU of eight regions where the core has them. The debugger's registers answer as
/// the others' (DDI 0419C, B3.2, B3.5 and C1).
fn baseline(facts: &Facts, address: u32) -> Answer {
    if address >= ROM_TABLE || address & 0xFFF >= IDENTIFICATION {
        return identity::read_baseline(address).map_or(Answer::Reserved, Answer::Only);
    }
    match address {
        0xE000_1040..=0xE000_1FFF => Answer::Reserved, // two comparators
        0xE000_2004 | 0xE000_2018..=0xE000_2FFF => Answer::Reserved, // four, and no remapping
        DWT_CTRL => Answer::Only(BASELINE_DWT_CTRL),
        0xE000_0000..=0xE000_101F => Answer::Reserved,
        0xE000_E004 | 0xE000_E008 => Answer::Reserved,
        0xE000_E100..=0xE000_E4FF => match address {
            0xE000_E100 | 0xE000_E180 | 0xE000_E200 | 0xE000_E280 => Answer::AsWhole,
            0xE000_E400..=0xE000_E41F => Answer::AsWhole,
            _ => Answer::Reserved,
        },
        0xE000_ED00 | ICSR | 0xE000_ED0C..=0xE000_ED14 => Answer::AsWhole,
        0xE000_ED1C | SHPR3 | SHCSR | 0xE000_ED30 => Answer::AsWhole,
        0xE000_ED08 if facts.vtor != 0 => Answer::AsWhole,
        0xE000_ED90..=0xE000_EDA0 if facts.mpu => Answer::AsWhole,
        0xE000_ED00..=0xE000_EDBF | 0xE000_EF00..=0xE000_EFCF => Answer::Reserved,
        _ => Answer::AsWhole,
    }
}

/// What it reads of a register that answers as that of a core with all.
pub fn shown(facts: &Facts, address: u32, word: u32) -> u32 {
    match address {
        _ if facts.mainline => word,
        ICSR => word & !RETTOBASE,
        BP_CTRL => BASELINE_BP_CTRL | word & BP_ENABLED,
        SHCSR => word & SVCALLPENDED,
        SHPR3 => word & !DEBUG_MONITOR_PRIORITY,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use crate::bus::Width;
    use crate::model::CoreKind;
    use crate::two_memories::TwoMemories;
    use crate::{Core, Timing};

    /// Writes ones everywhere in the register, and reads what is left.
    fn kept(kind: CoreKind, address: u32) -> u32 {
        let mut core = Core::of(kind.model(), Timing::Nucleo);
        let mut bus = TwoMemories::default();
        core.debug_write(&mut bus, address, Width::Word, u32::MAX)
            .unwrap();
        core.debug_read(&mut bus, address, Width::Word).unwrap()
    }

    #[test]
    fn each_core_keeps_the_bits_that_it_has() {
        for (address, name, of) in [
            (0xE000_1004, "CYCCNT", [u32::MAX, u32::MAX, 0, 0]),
            (0xE000_E104, "ISER1", [u32::MAX, u32::MAX, 0, 0]),
            (
                0xE000_E100,
                "ISER0",
                [u32::MAX, u32::MAX, u32::MAX, u32::MAX],
            ),
            (
                0xE000_E400,
                "IPR0",
                [0xF0F0_F0F0, 0xF0F0_F0F0, 0xC0C0_C0C0, 0xC0C0_C0C0],
            ),
            (
                0xE000_ED00,
                "CPUID",
                [0x410F_C241, 0x411F_C231, 0x410C_C200, 0x410C_C601],
            ),
            (
                0xE000_ED08,
                "VTOR",
                [0x3FFF_FE00, 0x3FFF_FE00, 0, 0xFFFF_FF80],
            ),
            (0xE000_ED14, "CCR", [0x31B, 0x31B, 0x208, 0x208]),
            (0xE000_ED18, "SHPR1", [0x00F0_F0F0, 0x00F0_F0F0, 0, 0]),
            (
                0xE000_ED1C,
                "SHPR2",
                [0xF000_0000, 0xF000_0000, 0xC000_0000, 0xC000_0000],
            ),
            (
                0xE000_ED20,
                "SHPR3",
                [0xF0F0_00F0, 0xF0F0_00F0, 0xC0C0_0000, 0xC0C0_0000],
            ),
            (0xE000_ED24, "SHCSR", [0x7_FD8B, 0x7_FD8B, 0x8000, 0x8000]),
            (0xE000_ED38, "BFAR", [u32::MAX, u32::MAX, 0, 0]),
            (0xE000_ED88, "CPACR", [0x00F0_0000, 0, 0, 0]),
            (0xE000_ED90, "MPU_TYPE", [0x800, 0, 0, 0x800]),
            (0xE000_EF34, "FPCCR", [0xC000_017B, 0, 0, 0]),
        ] {
            let found = [CoreKind::M4, CoreKind::M3, CoreKind::M0, CoreKind::M0Plus]
                .map(|kind| kept(kind, address));
            assert_eq!(found, of, "{name}");
        }
    }
}
