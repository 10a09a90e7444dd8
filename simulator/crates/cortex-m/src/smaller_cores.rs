//! The private bus of the cores that have less than the Cortex-M4: which of its registers they have,
//! and which bits of those.
//!
//! What a core lacks is reserved there: it reads 0 and ignores writes (DDI 0419C, B3.2.2; DDI 0403E,
//! B3.1.1).

use super::debug::identity;
use super::exceptions::SVCALL;
use super::model::CoreKind;
use super::trap::Exec;
use super::Core;

const ICSR: u32 = 0xE000_ED04;
const SHCSR: u32 = 0xE000_ED24;
const SHPR3: u32 = 0xE000_ED20;
const DEBUG_MONITOR_PRIORITY: u32 = 0xFF;
const DWT_CTRL: u32 = 0xE000_1000;
const RETTOBASE: u32 = 1 << 11;
const SVCALLPENDED: u32 = 1 << 15;
/// Two watchpoints, no cycle counter, no trace (DDI 0432C, 6.1).
const BASELINE_DWT_CTRL: u32 = 0x2000_0000;
const BP_CTRL: u32 = 0xE000_2000;
/// Four breakpoints, and whether they are on (DDI 0419C, C1.9.3).
const BASELINE_BP_CTRL: u32 = 4 << 4;
const BP_ENABLED: u32 = 1;
/// Where the identification registers of a component begin, within its 4 KiB.
const IDENTIFICATION: u32 = 0xFBC;
const ROM_TABLE: u32 = 0xE00F_F000;
/// ID_PFR0 to ID_ISAR4 of a Cortex-M3 (ARM DDI 0337G, table 8-1): those of the M4 without the DSP
/// extension.
const MAINLINE_FEATURES: [u32; 13] = [
    0x0000_0030,
    0x0000_0200,
    0x0010_0000,
    0x0000_0000,
    0x0010_0030,
    0x0000_0000,
    0x0100_0000,
    0x0000_0000,
    0x0110_0110,
    0x0211_1000,
    0x2111_2231,
    0x0111_1110,
    0x0131_0132,
];

/// How a smaller core answers at an address.
enum Answer {
    AsTheM4,
    Reserved,
    Only(u32),
}

fn answer(kind: CoreKind, address: u32) -> Answer {
    match kind {
        CoreKind::M4 => Answer::AsTheM4,
        CoreKind::M3 => mainline(address),
        CoreKind::M0 => baseline(address),
    }
}

/// A Cortex-M3 without an MPU has no float registers either.
fn mainline(address: u32) -> Answer {
    match address {
        0xE000_ED40..=0xE000_ED73 => {
            Answer::Only(MAINLINE_FEATURES[(address - 0xE000_ED40) as usize / 4])
        }
        0xE000_ED88 | 0xE000_ED90..=0xE000_EDB8 | 0xE000_EF34..=0xE000_EF48 => Answer::Reserved,
        _ => Answer::AsTheM4,
    }
}

/// ARMv6-M: SysTick, 32 interrupts, and of the SCB: CPUID, ICSR, AIRCR, SCR, CCR, SHPR2, SHPR3,
/// SHCSR. The debugger's registers answer as the others' (DDI 0419C, B3.2 and C1).
fn baseline(address: u32) -> Answer {
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
            0xE000_E100 | 0xE000_E180 | 0xE000_E200 | 0xE000_E280 => Answer::AsTheM4,
            0xE000_E400..=0xE000_E41F => Answer::AsTheM4,
            _ => Answer::Reserved,
        },
        0xE000_ED00 | ICSR | 0xE000_ED0C..=0xE000_ED14 => Answer::AsTheM4,
        0xE000_ED1C | SHPR3 | SHCSR | 0xE000_ED30 => Answer::AsTheM4,
        0xE000_ED00..=0xE000_EDBF | 0xE000_EF00..=0xE000_EFCF => Answer::Reserved,
        _ => Answer::AsTheM4,
    }
}

impl Core {
    /// What a core reads at `address` that does not answer as a Cortex-M4 does.
    pub(super) fn read_smaller(&mut self, address: u32, now: u64) -> Exec<Option<u32>> {
        Ok(match answer(self.model.kind, address) {
            Answer::Reserved => Some(0),
            Answer::Only(value) => Some(value),
            Answer::AsTheM4 if self.model.kind == CoreKind::M0 => {
                let word = self.read_private_word_of_m4(address, now)?;
                Some(match address {
                    ICSR => word & !RETTOBASE,
                    BP_CTRL => BASELINE_BP_CTRL | word & BP_ENABLED,
                    SHCSR => word & SVCALLPENDED,
                    SHPR3 => word & !DEBUG_MONITOR_PRIORITY,
                    _ => word,
                })
            }
            Answer::AsTheM4 => None,
        })
    }

    /// Takes a write that a Cortex-M4 would take otherwise, or not at all. False if there is none to
    /// take.
    pub(super) fn write_smaller(&mut self, address: u32, value: u32) -> Exec<bool> {
        let baseline = self.model.kind == CoreKind::M0;
        match (answer(self.model.kind, address), address) {
            (Answer::AsTheM4, SHCSR) if baseline => self.write_svcall_pended(value),
            // CCR is constant, and AIRCR has no groups of priorities (DDI 0419C, B3.2.6 and B3.2.8).
            (Answer::AsTheM4, 0xE000_ED14) if baseline => {}
            (Answer::AsTheM4, 0xE000_ED0C) if baseline => {
                self.write_aircr(value & !(7 << 8))?;
            }
            // DEMCR: there is nothing to trace.
            (Answer::AsTheM4, 0xE000_EDFC) if baseline => {
                let stored = self.private.scb.demcr;
                self.private.scb.demcr = stored & !VECTOR_CATCHES | value & VECTOR_CATCHES;
            }
            (Answer::AsTheM4, _) => return Ok(false),
            _ => {}
        }
        Ok(true)
    }

    fn write_svcall_pended(&mut self, value: u32) {
        if value & SVCALLPENDED != 0 {
            self.pend(SVCALL);
        } else {
            self.exceptions.unpend(SVCALL);
        }
    }

    /// Clears the flags and bits of EPSR that the core does not have.
    pub(super) fn drop_absent_flags(&mut self) {
        let facts = self.model.facts();
        if !facts.dsp {
            self.registers.flags.ge = 0;
        }
        if !facts.mainline {
            self.registers.flags.q = false;
            self.registers.itstate = 0;
        }
    }
}

/// VC_HARDERR, VC_CORERESET and DWTENA, the bits of ARMv6-M's DEMCR (DDI 0419C, C1.6.5).
const VECTOR_CATCHES: u32 = 1 << 24 | 1 << 10 | 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::Width;
    use crate::Timing;

    /// Writes ones everywhere in the register, and reads what is left.
    fn kept(kind: CoreKind, address: u32) -> u32 {
        let mut core = Core::of(kind.model(), Timing::Nucleo);
        let written = core.write_private(address, Width::Word, u32::MAX, 0);
        assert!(written.is_ok(), "{address:#x}");
        core.read_private(address, Width::Word, 10).ok().unwrap()
    }

    #[test]
    fn each_core_keeps_the_bits_that_it_has() {
        for (address, name, of) in [
            (0xE000_1004, "CYCCNT", [u32::MAX, u32::MAX, 0]),
            (0xE000_E104, "ISER1", [u32::MAX, u32::MAX, 0]),
            (0xE000_E100, "ISER0", [u32::MAX; 3]),
            (0xE000_E400, "IPR0", [0xF0F0_F0F0, 0xF0F0_F0F0, 0xC0C0_C0C0]),
            (
                0xE000_ED00,
                "CPUID",
                [0x410F_C241, 0x411F_C231, 0x410C_C200],
            ),
            (0xE000_ED08, "VTOR", [0x3FFF_FE00, 0x3FFF_FE00, 0]),
            (0xE000_ED14, "CCR", [0x31B, 0x31B, 0x208]),
            (0xE000_ED18, "SHPR1", [0x00F0_F0F0, 0x00F0_F0F0, 0]),
            (
                0xE000_ED1C,
                "SHPR2",
                [0xF000_0000, 0xF000_0000, 0xC000_0000],
            ),
            (
                0xE000_ED20,
                "SHPR3",
                [0xF0F0_00F0, 0xF0F0_00F0, 0xC0C0_0000],
            ),
            (0xE000_ED24, "SHCSR", [0x7_FD8B, 0x7_FD8B, 0x8000]),
            (0xE000_ED38, "BFAR", [u32::MAX, u32::MAX, 0]),
            (0xE000_ED88, "CPACR", [0x00F0_0000, 0, 0]),
            (0xE000_ED90, "MPU_TYPE", [0x800, 0, 0]),
            (0xE000_EF34, "FPCCR", [0xC000_017B, 0, 0]),
        ] {
            let found = [CoreKind::M4, CoreKind::M3, CoreKind::M0].map(|kind| kept(kind, address));
            assert_eq!(found, of, "{name}");
        }
    }
}
