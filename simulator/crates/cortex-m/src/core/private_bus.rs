//! The registers of the private peripheral bus (B3.1.1): SCB, NVIC, SysTick, DWT, FPU, DEMCR.

use super::Core;
use crate::bus::Width;
use crate::capabilities::{answer, shown, Answer, SVCALLPENDED};
use crate::debug::{monitor_pended, DCRSR, MON_PEND};
use crate::memory_map::{AIRCR, DEMCR, DWT_CTRL, FPB, ICSR, SHCSR};
use crate::nvic::{DEBUG_MONITOR, FIRST_IRQ, IRQ_WORDS, NMI, PENDSV, SVCALL, SYSTICK};
use crate::private_gaps::name;
use crate::scb::CCR_USERSETMPEND;
use crate::stop::Stop;
use crate::trap::{cfsr, Exec, Trap};
use crate::{dwt, itm};

const CYCCNT: u32 = 0xE000_1004;
const CFSR: u32 = 0xE000_ED28;
const STIR: u32 = 0xE000_EF00;
const AIRCR_KEY: u32 = 0x05FA;
const AIRCR_KEY_READ: u32 = 0xFA05;
const AIRCR_VECTRESET: u32 = 1 << 0;
const AIRCR_SYSRESETREQ: u32 = 1 << 2;
const AIRCR_PRIGROUP: u32 = 7 << 8;
/// VC_HARDERR, VC_CORERESET and DWTENA, the bits of ARMv6-M's DEMCR (DDI 0419C, C1.6.5).
const BASELINE_DEMCR: u32 = 1 << 24 | 1 << 10 | 1;
const DWT_CTRL_MODELLED: u32 = dwt::CYCCNTENA | dwt::EVENT_ENABLES;
const DEMCR_TRCENA: u32 = 1 << 24;
/// Vector catches take effect only with a debugger. MON_PEND is the exception's own pending state.
const DEMCR_STORED: u32 = DEMCR_TRCENA | 0xD_0000 | 0x7F1;

/// CPU feature registers ID_PFR0…ID_ISAR4 (TRM table 4-1).
const FEATURES: [u32; 13] = [
    0x0000_0030,
    0x0000_0200,
    0x0010_0000,
    0x0000_0000,
    0x0010_0030,
    0x0000_0000,
    0x0100_0000,
    0x0000_0000,
    0x0110_1110,
    0x0211_2000,
    0x2123_2231,
    0x0111_1131,
    0x0131_0132,
];

/// SHPR, IPR, CFSR, MPU_RASR and the MPU's aliases also answer bytes and halfwords.
fn byte_accessible(address: u32) -> bool {
    matches!(
        address,
        0xE000_E400..=0xE000_E7FF | 0xE000_ED18..=0xE000_ED23 | 0xE000_ED28..=0xE000_ED2B | 0xE000_EDA0..=0xE000_EDA3
    )
}

impl Core {
    /// Unprivileged code may access STIR, if CCR.USERSETMPEND is set (B3.1.1, B3.2.26), and the
    /// ITM's stimulus ports. It sees nothing else of the private bus.
    pub(super) fn check_privilege(&self, address: u32) -> Exec<()> {
        let stir = address == STIR && self.private.scb.ccr & CCR_USERSETMPEND != 0;
        // The ITM checks the privilege of its ports itself (C1.7.3).
        if self.access_privileged() || stir || itm::STIMULUS.contains(&address) {
            return Ok(());
        }
        Err(Trap::bus(cfsr::PRECISERR, Some(address)))
    }

    #[inline]
    pub(super) fn read_private(&mut self, address: u32, width: Width, now: u64) -> Exec<u32> {
        // Programs measure time by CYCCNT, so it has a fast path.
        if address == CYCCNT && width == Width::Word {
            return Ok(self.private.cycle_counter.read(now));
        }
        self.read_other_private(address, width, now)
    }

    fn read_other_private(&mut self, address: u32, width: Width, now: u64) -> Exec<u32> {
        if itm::STIMULUS.contains(&address) {
            let privileged = self.access_privileged();
            return Ok(self.private.itm.read_stimulus(address, privileged));
        }
        if width != Width::Word && !byte_accessible(address) {
            return Err(self.lacks("a narrow read of a word register", address));
        }
        let word = self.read_private_word(address & !3, now)?;
        Ok(width.lane(word, address))
    }

    pub(super) fn write_private(
        &mut self,
        address: u32,
        width: Width,
        value: u32,
        now: u64,
    ) -> Exec<()> {
        if itm::STIMULUS.contains(&address) {
            let privileged = self.access_privileged();
            self.private
                .itm
                .write_stimulus(address, width, value, privileged, now);
            return Ok(());
        }
        let mut word = value;
        if width != Width::Word {
            if !byte_accessible(address) {
                return Err(self.lacks("a narrow write of a word register", address));
            }
            let shift = 8 * (address & 3);
            let mask = width.mask() << shift;
            // The other bytes keep their value. In CFSR ones clear, so zeros keep it.
            let others = if address & !3 == CFSR {
                0
            } else {
                self.read_private_word(address & !3, now)? & !mask
            };
            word = others | value << shift & mask;
        }
        self.write_private_word(address & !3, word, now)?;
        self.leave_fast_loop();
        Ok(())
    }

    /// What the model lacks at `address` of the private bus.
    fn lacks(&self, what: impl Into<String>, address: u32) -> Trap {
        Trap::unmodelled(what, address, self.registers.pc)
    }

    fn read_private_word(&mut self, address: u32, now: u64) -> Exec<u32> {
        let facts = self.model.facts();
        match answer(facts, address) {
            Answer::Reserved => Ok(0),
            Answer::Only(value) => Ok(value),
            Answer::AsWhole => {
                let word = self.read_whole_private_word(address, now)?;
                Ok(shown(facts, address, word))
            }
        }
    }

    fn read_whole_private_word(&mut self, address: u32, now: u64) -> Exec<u32> {
        self.notice_access(address);
        let units = &mut self.private;
        let word = match address {
            DWT_CTRL => Some(units.cycle_counter.control() | units.events.control()),
            CYCCNT => Some(units.cycle_counter.read(now)),
            0xE000_1008..=0xE000_1018 => Some(units.events.read(counter(address))),
            0xE000_E004 => Some(IRQ_WORDS - 1),
            0xE000_E010..=0xE000_E01F => {
                self.sync_systick(now);
                Some(self.private.systick.read(address & 0xF, now))
            }
            0xE000_E100..=0xE000_E4FF => Some(self.nvic.read(address)),
            0xE000_ED00 => Some(self.model.facts().cpuid),
            ICSR => Some(self.nvic.icsr(self.registers.ipsr)),
            AIRCR => Some(AIRCR_KEY_READ << 16 | u32::from(self.nvic.prigroup()) << 8),
            0xE000_ED18..=0xE000_ED23 => Some(self.nvic.read_priorities(address)),
            SHCSR => Some(self.nvic.shcsr()),
            0xE000_ED40..=0xE000_ED73 => Some(FEATURES[(address - 0xE000_ED40) as usize / 4]),
            0xE000_ED90..=0xE000_EDB8 => Some(units.mpu.read(address - 0xE000_ED90)),
            DEMCR => Some(units.scb.demcr | monitor_pended(&self.nvic)),
            // MVFR0, MVFR1 (TRM table 7-2).
            0xE000_EF40 => Some(0x1011_0021),
            0xE000_EF44 => Some(0x1100_0011),
            // AFSR: no auxiliary faults. Cache registers and MVFR2: without caches and double precision
            // they are reserved.
            0xE000_ED3C | 0xE000_ED74..=0xE000_ED87 | 0xE000_EF48 => Some(0),
            _ if itm::REGISTERS.contains(&address) => units.itm.read(address),
            _ => {
                let stored = units.scb.read(address);
                stored.or_else(|| units.debug.read(address, self.registers.pc))
            }
        };
        word.ok_or_else(|| self.lacks(name(address), address))
    }

    fn write_private_word(&mut self, address: u32, value: u32, now: u64) -> Exec<()> {
        let facts = self.model.facts();
        let Answer::AsWhole = answer(facts, address) else {
            return Ok(());
        };
        self.notice_access(address);
        let units = &mut self.private;
        match address {
            DWT_CTRL => return self.write_dwt_control(value, now),
            CYCCNT => units.cycle_counter.write(value, now),
            0xE000_1008..=0xE000_1018 => units.events.write(counter(address), value),
            0xE000_E010..=0xE000_E01F => {
                self.sync_systick(now);
                self.private.systick.write(address & 0xF, value, now);
            }
            0xE000_E100..=0xE000_E4FF => {
                let newly = self.nvic.write(address, value);
                self.note_pending(newly);
            }
            0xE000_ED00 | 0xE000_ED3C => {}
            ICSR => self.write_icsr(value),
            // It has no groups of priorities (DDI 0419C, B3.2.6).
            AIRCR if !facts.mainline => return self.write_aircr(value & !AIRCR_PRIGROUP),
            AIRCR => return self.write_aircr(value),
            0xE000_ED18..=0xE000_ED23 => self.nvic.write_priorities(address, value),
            SHCSR if !facts.mainline && value & SVCALLPENDED != 0 => self.pend(SVCALL),
            SHCSR if !facts.mainline => self.nvic.unpend(SVCALL),
            SHCSR => self.nvic.write_shcsr(value),
            0xE000_ED90..=0xE000_EDB8 => {
                units.mpu.write(address - 0xE000_ED90, value);
                self.update_guard();
                self.invalidate_code();
            }
            // There is nothing to trace.
            DEMCR if !facts.mainline => units.scb.demcr = value & BASELINE_DEMCR,
            DEMCR => self.write_demcr(value, now),
            STIR if value < 32 * IRQ_WORDS => self.pend(FIRST_IRQ + value as u8),
            STIR => {}
            DCRSR => {
                let (registers, nvic) = (&mut self.registers, &mut self.nvic);
                let pipeline = &mut self.pipeline;
                units
                    .debug
                    .transfer(value, registers, nvic, pipeline, facts);
            }
            _ => {
                let written = if itm::REGISTERS.contains(&address) {
                    units.itm.write(address, value)
                } else {
                    let stored = units.scb.write(address, value, facts);
                    stored.or_else(|| units.debug.write(address, value))
                };
                written.ok_or_else(|| self.lacks(name(address), address))?;
                self.update_guard();
                if FPB.contains(&address) {
                    self.invalidate_code();
                }
            }
        }
        Ok(())
    }

    /// ISPR, ICPR, ICSR and SHCSR tell and change what is pending.
    fn notice_access(&mut self, address: u32) {
        if matches!(address, 0xE000_E200..=0xE000_E2FF | ICSR | SHCSR) {
            self.observers.planned.notice();
        }
    }

    fn write_dwt_control(&mut self, value: u32, now: u64) -> Exec<()> {
        let counts = value & dwt::CYCCNTENA != 0;
        self.private.cycle_counter.set_counting(counts, now);
        self.private.events.set_control(value);
        // Whoever does not go past it stops, so the bits before it may be set.
        match value & 0x0FFF_FFFF & !DWT_CTRL_MODELLED {
            0 => Ok(()),
            bits => {
                let what = format!("DWT_CTRL (bits {bits:#010x}: DWT's packets)");
                Err(self.lacks(what, DWT_CTRL))
            }
        }
    }

    fn write_demcr(&mut self, value: u32, now: u64) {
        self.private.scb.demcr = value & DEMCR_STORED;
        let traces = value & DEMCR_TRCENA != 0;
        self.private.cycle_counter.set_trace_enabled(traces, now);
        self.private.events.set_trace_enabled(traces);
        self.private.itm.set_trace_enabled(traces);
        self.set_pending(DEBUG_MONITOR, value & MON_PEND != 0);
        self.heed_debugger();
    }

    fn write_icsr(&mut self, value: u32) {
        for (set, clear, exception) in [
            (28, Some(27), PENDSV),
            (26, Some(25), SYSTICK),
            (31, None, NMI),
        ] {
            let sets = value >> set & 1 != 0;
            if sets || clear.is_some_and(|bit| value >> bit & 1 != 0) {
                self.set_pending(exception, sets);
            }
        }
    }

    fn set_pending(&mut self, exception: u8, pending: bool) {
        if pending {
            self.pend(exception);
        } else {
            self.nvic.unpend(exception);
        }
    }

    fn write_aircr(&mut self, value: u32) -> Exec<()> {
        if value >> 16 != AIRCR_KEY {
            return Ok(());
        }
        if value & AIRCR_SYSRESETREQ != 0 {
            return Err(Trap::Stop(Box::new(Stop::ResetRequested {
                pc: self.registers.pc,
            })));
        }
        if value & AIRCR_VECTRESET != 0 {
            return Err(self.lacks("a reset of the core alone (AIRCR.VECTRESET)", AIRCR));
        }
        self.nvic.set_prigroup((value >> 8 & 7) as u8);
        Ok(())
    }
}

/// The number of a counter of DWT's events, by its register.
fn counter(address: u32) -> usize {
    (address - 0xE000_1008) as usize / 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timing;

    #[test]
    fn the_fast_path_to_cyccnt_reads_what_the_general_one_reads() {
        let mut core = Core::new(Timing::Nucleo);
        let poke = |core: &mut Core, address, value, now| {
            let written = core.write_private(address, Width::Word, value, now);
            assert!(written.is_ok(), "{address:#x}");
        };
        let settings = [
            (0xE000_EDFC, DEMCR_TRCENA),
            (0xE000_1000, dwt::CYCCNTENA),
            (CYCCNT, 0xFFFF_FFF0),
            (0xE000_1000, 0),
            (0xE000_1000, dwt::CYCCNTENA),
        ];
        for (n, (address, value)) in settings.into_iter().enumerate() {
            poke(&mut core, address, value, 100 * n as u64);
            for now in (100 * n as u64..).take(100) {
                let short = core.read_private(CYCCNT, Width::Word, now).ok();
                let long = core.read_other_private(CYCCNT, Width::Word, now).ok();
                assert!(short.is_some() && short == long, "cycle {now}");
            }
        }
    }
}
