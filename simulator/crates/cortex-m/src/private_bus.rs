//! The registers of the private peripheral bus (B3.1.1): SCB, NVIC, SysTick, DWT, FPU, DEMCR.

use super::exceptions::{
    NvicRegister, BUS_FAULT, DEBUG_MONITOR, FIRST_IRQ, IRQ_WORDS, MEM_MANAGE, NMI, PENDSV, SVCALL,
    SYSTICK, USAGE_FAULT,
};
use super::private_gaps::name;
use super::registers::FPSCR_MODES;
use super::scb::{CCR_USERSETMPEND, CCR_WRITABLE, FPCCR_LSPACT};
use super::stop::Stop;
use super::trap::{cfsr, Exec, Trap};
use super::{dwt, itm, Core};
use crate::bus::Width;

const CYCCNT: u32 = 0xE000_1004;
const CFSR: u32 = 0xE000_ED28;
const STIR: u32 = 0xE000_EF00;
const AIRCR_KEY: u32 = 0x05FA;
const AIRCR_KEY_READ: u32 = 0xFA05;
const AIRCR_VECTRESET: u32 = 1 << 0;
const AIRCR_SYSRESETREQ: u32 = 1 << 2;
const HFSR_WRITABLE: u32 = 0xC000_0002;
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

/// SHCSR: the bit and the exception of each active, pended and enabled state (B3.2.13).
const SHCSR_ACTIVE: [(u32, u8); 7] = [
    (0, MEM_MANAGE),
    (1, BUS_FAULT),
    (3, USAGE_FAULT),
    (7, SVCALL),
    (8, DEBUG_MONITOR),
    (10, PENDSV),
    (11, SYSTICK),
];
const SHCSR_PENDED: [(u32, u8); 4] = [
    (12, USAGE_FAULT),
    (13, MEM_MANAGE),
    (14, BUS_FAULT),
    (15, SVCALL),
];
const SHCSR_ENABLED: [(u32, u8); 3] = [(16, MEM_MANAGE), (17, BUS_FAULT), (18, USAGE_FAULT)];

/// The part of a word that an access of `width` at `address` sees.
pub(super) fn lane(word: u32, address: u32, width: Width) -> u32 {
    word >> (8 * (address & 3)) & width.mask()
}

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
        if self.access_privileged() {
            return Ok(());
        }
        let stir = address == STIR && self.private.scb.ccr & CCR_USERSETMPEND != 0;
        // The ITM checks the privilege of its ports itself (C1.7.3).
        if stir || itm::STIMULUS.contains(&address) {
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
            return Ok(self
                .private
                .itm
                .read_stimulus(address, self.access_privileged()));
        }
        if width != Width::Word && !byte_accessible(address) {
            return Err(Trap::unmodelled(
                "a narrow read of a word register",
                address,
                self.registers.pc,
            ));
        }
        let word = self.read_private_word(address & !3, now)?;
        Ok(lane(word, address, width))
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
                return Err(Trap::unmodelled(
                    "a narrow write of a word register",
                    address,
                    self.registers.pc,
                ));
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

    fn read_private_word(&mut self, address: u32, now: u64) -> Exec<u32> {
        if !self.model.facts().is_whole() {
            if let Some(word) = self.read_partial(address, now)? {
                return Ok(word);
            }
        }
        self.read_whole_private_word(address, now)
    }

    pub(super) fn read_whole_private_word(&mut self, address: u32, now: u64) -> Exec<u32> {
        Ok(match address {
            0xE000_1000 => self.private.cycle_counter.control() | self.private.events.control(),
            CYCCNT => self.private.cycle_counter.read(now),
            0xE000_1008..=0xE000_1018 => self
                .private
                .events
                .read((address - 0xE000_1008) as usize / 4),
            0xE000_E004 => IRQ_WORDS - 1,
            0xE000_E008 => self.private.scb.actlr,
            0xE000_E010..=0xE000_E01F => {
                self.sync_systick(now);
                self.private.systick.read(address & 0xF, now)
            }
            0xE000_E100..=0xE000_E4FF => {
                self.notice_access(address);
                self.read_nvic(address)
            }
            0xE000_ED00..=0xE000_ED3F => {
                self.notice_access(address);
                self.read_scb(address)
            }
            0xE000_ED40..=0xE000_ED73 => FEATURES[(address - 0xE000_ED40) as usize / 4],
            0xE000_ED88 => self.private.scb.cpacr,
            0xE000_ED90..=0xE000_EDB8 => self.private.mpu.read(address - 0xE000_ED90),
            0xE000_EDFC => self.private.scb.demcr | self.monitor_pended(),
            _ if itm::REGISTERS.contains(&address) => {
                return self
                    .private
                    .itm
                    .read(address)
                    .ok_or_else(|| Trap::unmodelled(name(address), address, self.registers.pc))
            }
            0xE000_EF34 => self.private.scb.fpccr,
            0xE000_EF38 => self.private.scb.fpcar,
            0xE000_EF3C => self.private.scb.fpdscr,
            // MVFR0, MVFR1 (TRM table 7-2).
            0xE000_EF40 => 0x1011_0021,
            0xE000_EF44 => 0x1100_0011,
            // Cache registers and MVFR2. Without caches and double precision they are reserved.
            0xE000_ED74..=0xE000_ED87 | 0xE000_EF48 => 0,
            _ => {
                return self
                    .read_debug_unit(address)
                    .ok_or_else(|| Trap::unmodelled(name(address), address, self.registers.pc))
            }
        })
    }

    fn write_private_word(&mut self, address: u32, value: u32, now: u64) -> Exec<()> {
        if !self.model.facts().is_whole() && self.write_partial(address, value)? {
            return Ok(());
        }
        match address {
            0xE000_1000 => return self.write_dwt_control(value, now),
            CYCCNT => self.private.cycle_counter.write(value, now),
            0xE000_1008..=0xE000_1018 => self
                .private
                .events
                .write((address - 0xE000_1008) as usize / 4, value),
            0xE000_E008 => self.private.scb.actlr = value & 0x307,
            0xE000_E010..=0xE000_E01F => {
                self.sync_systick(now);
                self.private.systick.write(address & 0xF, value, now);
            }
            0xE000_E100..=0xE000_E4FF => {
                self.notice_access(address);
                self.write_nvic(address, value);
            }
            0xE000_ED00..=0xE000_ED3F => {
                self.notice_access(address);
                return self.write_scb(address, value);
            }
            0xE000_ED88 => self.private.scb.cpacr = value & 0x00F0_0000,
            0xE000_ED90..=0xE000_EDB8 => {
                self.private.mpu.write(address - 0xE000_ED90, value);
                self.update_guard();
                self.invalidate_code();
            }
            0xE000_EDFC => self.write_demcr(value, now),
            _ if itm::REGISTERS.contains(&address) => {
                return self
                    .private
                    .itm
                    .write(address, value)
                    .ok_or_else(|| Trap::unmodelled(name(address), address, self.registers.pc))
            }
            STIR => self.pend_irq(value),
            0xE000_EF34 => self.private.scb.fpccr = value & 0xC000_017B,
            0xE000_EF38 => self.private.scb.fpcar = value & !7,
            0xE000_EF3C => self.private.scb.fpdscr = value & FPSCR_MODES,
            _ => {
                return self
                    .write_debug_unit(address, value)
                    .ok_or_else(|| Trap::unmodelled(name(address), address, self.registers.pc))
            }
        }
        Ok(())
    }

    /// ISPR, ICPR, ICSR and SHCSR tell and change what is pending.
    fn notice_access(&mut self, address: u32) {
        if matches!(
            address,
            0xE000_E200..=0xE000_E2FF | 0xE000_ED04 | 0xE000_ED24
        ) {
            self.notice_pending();
        }
    }

    fn write_dwt_control(&mut self, value: u32, now: u64) -> Exec<()> {
        self.private
            .cycle_counter
            .set_counting(value & dwt::CYCCNTENA != 0, now);
        self.private.events.set_control(value);
        // Whoever does not go past it stops, so the bits before it may be set.
        match value & 0x0FFF_FFFF & !DWT_CTRL_MODELLED {
            0 => Ok(()),
            bits => Err(Trap::unmodelled(
                format!("DWT_CTRL (bits {bits:#010x}: DWT's packets)"),
                0xE000_1000,
                self.registers.pc,
            )),
        }
    }

    fn write_demcr(&mut self, value: u32, now: u64) {
        self.private.scb.demcr = value & DEMCR_STORED;
        let traces = value & DEMCR_TRCENA != 0;
        self.private.cycle_counter.set_trace_enabled(traces, now);
        self.private.events.set_trace_enabled(traces);
        self.private.itm.set_trace_enabled(traces);
        self.set_monitor(value);
    }

    fn pend_irq(&mut self, irq: u32) {
        if irq < 32 * IRQ_WORDS {
            self.pend(FIRST_IRQ + irq as u8);
        }
    }

    /// Registers of interrupts that do not exist read as 0 and ignore writes.
    fn read_nvic(&self, address: u32) -> u32 {
        let word = (address & 0x7F) / 4;
        let register = match address & 0xF80 {
            0x100 | 0x180 => NvicRegister::Enable,
            0x200 | 0x280 => NvicRegister::Pending,
            0x300 => NvicRegister::Active,
            _ => return self.read_irq_priorities(address),
        };
        if word < IRQ_WORDS {
            self.exceptions.irq_word(register, word)
        } else {
            0
        }
    }

    fn read_irq_priorities(&self, address: u32) -> u32 {
        let first = address.wrapping_sub(0xE000_E400);
        if first >= 32 * IRQ_WORDS {
            return 0;
        }
        let of =
            |n: u32| u32::from(self.exceptions.priority(FIRST_IRQ + (first + n) as u8)) << (8 * n);
        of(0) | of(1) | of(2) | of(3)
    }

    fn write_nvic(&mut self, address: u32, value: u32) {
        let word = (address & 0x7F) / 4;
        let (register, set) = match address & 0xF80 {
            0x100 => (NvicRegister::Enable, true),
            0x180 => (NvicRegister::Enable, false),
            0x200 => (NvicRegister::Pending, true),
            0x280 => (NvicRegister::Pending, false),
            0x400.. => return self.write_irq_priorities(address, value),
            _ => return,
        };
        if word < IRQ_WORDS {
            let before = self.exceptions.irq_word(NvicRegister::Pending, word);
            self.exceptions.write_irq_word(register, word, value, set);
            let after = self.exceptions.irq_word(NvicRegister::Pending, word);
            self.note_pending(after & !before != 0);
        }
    }

    fn write_irq_priorities(&mut self, address: u32, value: u32) {
        let first = address - 0xE000_E400;
        for n in 0..4 {
            if first + n < 32 * IRQ_WORDS {
                self.exceptions
                    .set_priority(FIRST_IRQ + (first + n) as u8, (value >> (8 * n)) as u8);
            }
        }
    }

    fn read_scb(&self, address: u32) -> u32 {
        match address {
            0xE000_ED00 => self.model.facts().cpuid,
            0xE000_ED04 => self.icsr(),
            0xE000_ED08 => self.private.scb.vtor,
            0xE000_ED0C => AIRCR_KEY_READ << 16 | u32::from(self.exceptions.prigroup()) << 8,
            0xE000_ED10 => self.private.scb.scr,
            0xE000_ED14 => self.private.scb.ccr,
            0xE000_ED18..=0xE000_ED23 => self.read_system_priorities(address),
            0xE000_ED24 => self.shcsr(),
            0xE000_ED28 => self.private.scb.cfsr,
            0xE000_ED2C => self.private.scb.hfsr,
            0xE000_ED30 => self.private.scb.dfsr,
            0xE000_ED34 => self.private.scb.mmfar,
            0xE000_ED38 => self.private.scb.bfar,
            // AFSR: no auxiliary faults.
            _ => 0,
        }
    }

    fn write_scb(&mut self, address: u32, value: u32) -> Exec<()> {
        match address {
            0xE000_ED04 => self.write_icsr(value),
            // 96 lines and 16 exceptions need a table that is aligned to 512 bytes (B3.2.5).
            0xE000_ED08 => self.private.scb.vtor = value & self.model.facts().vtor,
            0xE000_ED0C => return self.write_aircr(value),
            0xE000_ED10 => self.private.scb.scr = value & 0x16,
            0xE000_ED14 => self.private.scb.ccr = value & CCR_WRITABLE,
            0xE000_ED18..=0xE000_ED23 => self.write_system_priorities(address, value),
            0xE000_ED24 => self.write_shcsr(value),
            0xE000_ED28 => self.private.scb.cfsr &= !value,
            0xE000_ED2C => self.private.scb.hfsr &= !(value & HFSR_WRITABLE),
            0xE000_ED30 => self.private.scb.dfsr &= !value,
            0xE000_ED34 => self.private.scb.mmfar = value,
            0xE000_ED38 => self.private.scb.bfar = value,
            _ => {}
        }
        Ok(())
    }

    fn icsr(&self) -> u32 {
        let pending = self.exceptions.first_pending();
        let interrupts =
            (0..IRQ_WORDS).any(|w| self.exceptions.irq_word(NvicRegister::Pending, w) != 0);
        let alone = self.exceptions.active_count() <= 1;
        let flag = |set: bool, bit: u32| (set as u32) << bit;
        u32::from(self.registers.ipsr)
            | flag(self.registers.ipsr != 0 && alone, 11)
            | u32::from(pending.unwrap_or(0)) << 12
            | flag(interrupts, 22)
            | flag(self.exceptions.is_pending(SYSTICK), 26)
            | flag(self.exceptions.is_pending(PENDSV), 28)
            | flag(self.exceptions.is_pending(NMI), 31)
    }

    fn write_icsr(&mut self, value: u32) {
        for (set, clear, exception) in [
            (28, Some(27), PENDSV),
            (26, Some(25), SYSTICK),
            (31, None, NMI),
        ] {
            if value >> set & 1 != 0 {
                self.pend(exception);
            } else if clear.is_some_and(|bit| value >> bit & 1 != 0) {
                self.exceptions.unpend(exception);
            }
        }
    }

    pub(super) fn write_aircr(&mut self, value: u32) -> Exec<()> {
        if value >> 16 != AIRCR_KEY {
            return Ok(());
        }
        if value & AIRCR_SYSRESETREQ != 0 {
            return Err(Trap::Stop(Box::new(Stop::ResetRequested {
                pc: self.registers.pc,
            })));
        }
        if value & AIRCR_VECTRESET != 0 {
            return Err(Trap::unmodelled(
                "a reset of the core alone (AIRCR.VECTRESET)",
                0xE000_ED0C,
                self.registers.pc,
            ));
        }
        self.exceptions.set_prigroup((value >> 8 & 7) as u8);
        Ok(())
    }

    fn read_system_priorities(&self, address: u32) -> u32 {
        let first = (address - 0xE000_ED18) as u8 + 4;
        (0..4)
            .map(|n| u32::from(self.exceptions.priority(first + n)) << (8 * n))
            .sum()
    }

    fn write_system_priorities(&mut self, address: u32, value: u32) {
        let first = (address - 0xE000_ED18) as u8 + 4;
        for n in 0..4u8 {
            let implemented = matches!(
                first + n,
                MEM_MANAGE | BUS_FAULT | USAGE_FAULT | SVCALL | DEBUG_MONITOR | PENDSV | SYSTICK
            );
            if implemented {
                self.exceptions
                    .set_priority(first + n, (value >> (8 * n)) as u8);
            }
        }
    }

    fn shcsr(&self) -> u32 {
        let gather = |bits: &[(u32, u8)], test: &dyn Fn(u8) -> bool| -> u32 {
            bits.iter()
                .map(|&(bit, exception)| (test(exception) as u32) << bit)
                .sum()
        };
        gather(&SHCSR_ACTIVE, &|n| self.exceptions.is_active(n))
            | gather(&SHCSR_PENDED, &|n| self.exceptions.is_pending(n))
            | gather(&SHCSR_ENABLED, &|n| self.exceptions.is_enabled(n))
    }

    fn write_shcsr(&mut self, value: u32) {
        for (bit, exception) in SHCSR_ACTIVE {
            self.exceptions.set_active(exception, value >> bit & 1 != 0);
        }
        for (bit, exception) in SHCSR_PENDED {
            if value >> bit & 1 != 0 {
                self.exceptions.pend(exception);
            } else {
                self.exceptions.unpend(exception);
            }
        }
        for (bit, exception) in SHCSR_ENABLED {
            self.exceptions
                .set_enabled(exception, value >> bit & 1 != 0);
        }
    }

    /// Whether a lazily reserved frame still waits for S0–S15.
    pub(super) fn lazy_state_pending(&self) -> bool {
        self.private.scb.fpccr & FPCCR_LSPACT != 0
    }
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
