//! How an access of the core reaches a memory or a register.

use super::address_map::{Block, Responder, AHB1_START, APB1_START, APB2_START};
use super::Soc;
use crate::chip::{PLACE_BYTES, SRAM_BASE};
use crate::manners::{Access, Oddity};
use crate::peripherals::registers::{Lanes, Unmodelled};
use crate::peripherals::Fast;
use cortex_m::bus::{Bus, Fault, Lack, Loaded, Steadiness, Width};
use cortex_m::unaligned_cycles;

/// Cycles of PCLK that a transfer on an APB takes.
const APB_TRANSFER_CLOCKS: u64 = 2;

impl Soc {
    /// The peripheral that answers at an address, and the offset of the register. `None` if none
    /// answers.
    #[inline(always)]
    pub(super) fn responder(&mut self, address: u32) -> Option<(Responder, u32)> {
        let responder = match self.logic.responders.at(address) {
            Some(responder) => responder,
            None => self.find_responder(address)?,
        };
        Some((responder, (address % PLACE_BYTES) & !3))
    }

    #[cold]
    fn find_responder(&mut self, address: u32) -> Option<Responder> {
        let place = self.map.find(address)?;
        let clocked = |clock: (u32, u32)| self.logic.rcc.enabled(clock.0, clock.1);
        // On the STM32F0 it has a clock that a debugger need not turn on: OpenOCD reads its IDCODE as
        // the first thing (src/flash/nor/stm32f1x.c).
        let opened = self.logic.dbgmcu.by_debugger && matches!(place.block, Some(Block::Dbgmcu));
        let block = place
            .block
            .filter(|_| opened || place.clock.is_none_or(clocked))?;
        let fast = match block {
            Block::Usart(usart) => self.logic.usarts[usart].fast(),
            Block::Gpio(port) => self.logic.ports[port].fast(),
            _ => Fast::NONE,
        };
        let responder = Responder {
            block,
            on_apb: place.on_apb(),
            fast,
        };
        if !opened {
            self.logic.responders.remember(address, responder);
        }
        Some(responder)
    }

    /// What is odd about an access that no register answers.
    #[cold]
    fn unanswered(&mut self, address: u32) -> Result<Unmodelled, Fault> {
        let Some(name) = self.register_name(address) else {
            return Err(Fault::Bus { address });
        };
        let is_modelled = self
            .map
            .find(address)
            .is_some_and(|entry| entry.block.is_some());
        Ok(match (is_modelled, self.responder(address)) {
            (false, _) => Unmodelled(name, Oddity::Absent),
            (true, Some(_)) => Unmodelled(name, Oddity::Register),
            (true, None) => {
                let what = format!("{name} (its clock is off in RCC)");
                Unmodelled(what, Oddity::ClockOff)
            }
        })
    }

    /// `RCC_CR`. `None` if no peripheral is at this address.
    pub fn register_name(&mut self, address: u32) -> Option<String> {
        let entry = self.map.find(address)?;
        let offset = (address - entry.place.base) & !3;
        Some(match entry.block {
            None => entry.absent_name(offset),
            Some(block) => self.block(block).registers().name(offset),
        })
    }

    /// Notes what is odd if the manners take it. Otherwise it is a fault.
    #[cold]
    pub(super) fn take(
        &mut self,
        odd: Unmodelled,
        address: u32,
        access: Access,
        now: u64,
    ) -> Result<(), Fault> {
        let Unmodelled(what, oddity) = odd;
        if !self.notes.manners().takes(oddity, access) {
            return Err(Fault::Unmodelled { what, address });
        }
        // The first time, the machine must tell which instruction it was.
        self.logic.attention |= self.notes.note(oddity, what, address, access, now);
        Ok(())
    }

    #[cold]
    fn read_unanswered(&mut self, address: u32, width: Width, now: u64) -> Result<u32, Fault> {
        let odd = self.unanswered(address)?;
        let oddity = odd.1;
        self.take(odd, address, Access::Read, now)?;
        Ok(match oddity {
            Oddity::ClockOff => 0,
            _ => self.reset_value(address).unwrap_or(0) >> (address % 4 * 8) & width.mask(),
        })
    }

    /// What a register that is not modelled reads.
    fn reset_value(&mut self, address: u32) -> Option<u32> {
        let entry = self.map.find(address)?;
        let offset = (address - entry.place.base) & !3;
        match entry.block {
            None => Some(entry.absent_register(offset)?.reset),
            Some(block) => Some(self.block(block).registers().reset_value(offset)),
        }
    }

    /// Reads a register. `None` if no modelled one answers.
    #[inline(always)]
    pub(super) fn read_modelled(&mut self, address: u32, width: Width, now: u64) -> Option<u32> {
        let (Responder { block, .. }, offset) = self.responder(address)?;
        self.catch_up(now);
        let peripheral = self.block(block);
        let word = peripheral.read_modelled(offset, now)?;
        if peripheral.read_has_effect(offset) {
            self.changed_by_reading(block, now);
        }
        Some(word >> (address % 4 * 8) & width.mask())
    }

    fn changed_by_reading(&mut self, block: Block, now: u64) {
        match block {
            Block::Usart(usart) => self.usart_accessed(usart, now),
            Block::Timer(timer) => self.timer_changed(timer, now),
            Block::Other(n) => self.other_changed(n),
            _ => {}
        }
    }

    /// Wait cycles of an AHB-to-APB bridge. An APB transfer begins on an edge of PCLK, and takes a
    /// setup and an access cycle (AMBA APB, ARM IHI 0024, chapter 3). The phase of PCLK is not
    /// documented; here an edge falls on cycle 0. All other peripherals, such as GPIO and RCC, are
    /// on the AHB and answer without waiting.
    #[inline(always)]
    pub(super) fn bridge_cycles(&self, address: u32, now: u64) -> u32 {
        self.bridge_divider(address)
            .map_or(0, |divider| apb_cycles(divider, now))
    }

    /// Core cycles per PCLK of the bridge that leads to an address. `None` on the AHB.
    #[inline(always)]
    pub(super) fn bridge_divider(&self, address: u32) -> Option<u64> {
        match address {
            APB1_START..APB2_START => Some(self.logic.clocks.apb1_divider),
            APB2_START..AHB1_START => Some(self.logic.clocks.apb2_divider),
            _ => None,
        }
    }

    #[inline(always)]
    pub(super) fn write_modelled(
        &mut self,
        address: u32,
        width: Width,
        value: u32,
        now: u64,
    ) -> Result<(), Fault> {
        let Some((responder, offset)) = self.responder(address) else {
            let odd = self.unanswered(address)?;
            return self.take(odd, address, Access::Write, now);
        };
        let Responder { block, on_apb, .. } = responder;
        let now = self.stall_register_write(block, offset, now);
        self.catch_up(now);
        let (data, lanes) = on_the_bus(on_apb, address, width, value);
        let peripheral = self.block(block);
        let merged = match peripheral.registers().merge(offset, data, lanes) {
            Ok(merged) => merged,
            Err(odd) => {
                self.take(odd, address, Access::Write, now)?;
                let registers = self.block(block).registers();
                match registers.merge_modelled(offset, data, lanes) {
                    Some(merged) => merged,
                    None => return Ok(()),
                }
            }
        };
        match self.block(block).write(offset, merged, now) {
            Ok(()) => self.propagate(block, offset, merged, address, now),
            Err(odd) => {
                let carried_out = odd.1.carried_out();
                let taken = self.take(odd, address, Access::Write, now);
                if carried_out {
                    // Whoever does not take it sees the whole of what was done.
                    return taken.and(self.propagate(block, offset, merged, address, now));
                }
                taken
            }
        }
    }

    #[inline(always)]
    fn propagate(
        &mut self,
        block: Block,
        offset: u32,
        merged: u32,
        address: u32,
        now: u64,
    ) -> Result<(), Fault> {
        self.propagate_write(block, offset, merged, now)
            .or_else(|odd| self.take(odd, address, Access::Write, now))
    }
}

impl Soc {
    #[inline(never)]
    fn read_beyond_memory(
        &mut self,
        address: u32,
        width: Width,
        now: u64,
    ) -> Result<Loaded, Fault> {
        if let Some(value) = self.memory.read_ccm(address, width) {
            self.logic.second_sram.read_code(now);
            return Ok(Loaded {
                value,
                wait_cycles: 0,
            });
        }
        if let Some(value) = self.read_system_memory(address, width) {
            return value.map(|value| Loaded {
                value,
                wait_cycles: 0,
            });
        }
        if now <= self.logic.settles_until {
            self.look_at_clock(address, Access::Read, now)?;
        }
        let value = match self.read_modelled(address, width, now) {
            Some(value) => value,
            None => self.read_unanswered(address, width, now)?,
        };
        let wait_cycles = self.bridge_cycles(address, now);
        Ok(Loaded { value, wait_cycles })
    }

    #[inline(never)]
    fn write_beyond_sram(
        &mut self,
        address: u32,
        width: Width,
        value: u32,
        now: u64,
    ) -> Result<u32, Fault> {
        if let Some(offset) = self.memory.in_flash(address) {
            return self
                .program_flash(address, offset, width, value, now)
                .map(|()| 0);
        }
        if self.memory.write_ccm(address, width, value).is_some() {
            return Ok(0);
        }
        if now <= self.logic.settles_until {
            self.look_at_clock(address, Access::Write, now)?;
        }
        self.write_modelled(address, width, value, now)?;
        Ok(self.bridge_cycles(address, now))
    }
}

impl Bus for Soc {
    fn fetch(&mut self, address: u32) -> Result<u16, Fault> {
        // Core coupled memory is not on the instruction buses (RM0090 §2.3.1).
        let half = self.memory.read(address, Width::Half);
        half.map(|half| half as u16).ok_or(Fault::Bus { address })
    }

    /// Reading flash adds no wait cycles here: the core computes them.
    #[inline(always)]
    fn read(&mut self, address: u32, width: Width, now: u64) -> Result<Loaded, Fault> {
        if address >= APB1_START {
            return self.read_beyond_memory(address, width, now);
        }
        match self.memory.read(address, width) {
            Some(value) => {
                self.stall_read(address, now);
                let wait_cycles = if self.memory.is_second_sram(address) {
                    let before = unaligned_cycles(address, width.bytes());
                    self.logic.second_sram.read(now - before, now)
                } else {
                    if self.memory.has_second_sram() && address < SRAM_BASE {
                        self.logic.second_sram.read_code(now);
                    }
                    0
                };
                Ok(Loaded { value, wait_cycles })
            }
            None => self.read_beyond_memory(address, width, now),
        }
    }

    #[inline(always)]
    fn write(&mut self, address: u32, width: Width, value: u32, now: u64) -> Result<u32, Fault> {
        match self.memory.write(address, width, value) {
            Some(()) => {
                if self.memory.is_second_sram(address) {
                    self.logic.second_sram.write(now);
                }
                Ok(0)
            }
            None => self.write_beyond_sram(address, width, value, now),
        }
    }

    #[cold]
    fn goes_past(&mut self, lack: Lack, what: &str, address: u32, writes: bool, now: u64) -> bool {
        let oddity = match lack {
            Lack::Reserved => Oddity::Reserved,
            Lack::Register => Oddity::Register,
            Lack::Bits => Oddity::Bits,
            Lack::Unit => Oddity::Absent,
            Lack::Mode => Oddity::Mode,
        };
        let access = if writes { Access::Write } else { Access::Read };
        let odd = Unmodelled(what.to_owned(), oddity);
        self.take(odd, address, access, now).is_ok()
    }

    #[inline(always)]
    fn read_fast_register(
        &mut self,
        address: u32,
        width: Width,
        now: u64,
    ) -> Option<(Loaded, Steadiness)> {
        self.read_fast(address, width, now)
    }

    #[inline(always)]
    fn write_fast_register(
        &mut self,
        address: u32,
        width: Width,
        value: u32,
        now: u64,
    ) -> Option<u32> {
        self.write_fast(address, width, value, now)
    }

    #[inline(always)]
    fn plain_memory(&mut self, address: u32, bytes: u32) -> Option<&mut [u8]> {
        let last = address.wrapping_add(bytes).wrapping_sub(1);
        if self.memory.is_second_sram(last) {
            return None;
        }
        self.memory.sram_at(address, bytes)
    }

    #[inline(always)]
    fn plain_bytes<const N: usize>(&mut self, address: u32) -> Option<&mut [u8; N]> {
        self.memory.sram_aligned(address)
    }

    fn barrier(&mut self) {
        self.logic.settles_until = 0;
    }

    fn returns_before_its_store(&mut self, irq: u16, now: u64) {
        self.note_late_clear(irq, now);
    }

    fn attention(&self) -> bool {
        self.logic.attention
    }

    fn interrupt_lines(&mut self, now: u64) -> Option<u128> {
        self.catch_up(now);
        Some(Soc::interrupt_lines(self))
    }

    #[inline(always)]
    fn steadiness(&self, address: u32) -> Option<Steadiness> {
        let Responder { block, fast, .. } = self.logic.responders.at(address)?;
        let offset = (address % PLACE_BYTES) & !3;
        let until_cycle = match block {
            _ if offset == fast.polled => u64::MAX,
            Block::Timer(timer) => self.logic.timers[timer].reads_steadily_until(offset)?,
            _ => return None,
        };
        Some(Steadiness {
            period_cycles: self.bridge_divider(address).unwrap_or(1),
            until_cycle,
        })
    }

    fn flash_access_control(&self) -> u32 {
        self.logic.flash.access_control()
    }
}

/// Wait cycles of a bridge with `divider` core cycles per PCLK.
#[inline(always)]
pub(super) fn apb_cycles(divider: u64, now: u64) -> u32 {
    // Dividers are powers of two (§6.3.3, PPRE1 and PPRE2).
    let to_edge = now.wrapping_neg() & (divider - 1);
    (to_edge + APB_TRANSFER_CLOCKS * divider - 1) as u32
}

/// Data as it reaches a register, and the bits that it reaches.
#[inline(always)]
fn on_the_bus(on_apb: bool, address: u32, width: Width, value: u32) -> (u32, Lanes) {
    if width == Width::Word {
        return (value, Lanes::WORD);
    }
    let shift = address % 4 * 8;
    let addressed = width.mask() << shift;
    let repeated = match width {
        Width::Byte => (value & 0xFF) * 0x0101_0101,
        _ => (value & 0xFFFF) * 0x0001_0001,
    };
    let (data, written) = match on_apb {
        true => (repeated, !0),
        false => (value << shift, addressed),
    };
    (data, Lanes { written, addressed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::{Edge, Pin};
    use crate::memory::Memory;
    use crate::peripherals::ResetCause;
    use crate::random::Random;

    const AHB1ENR: u32 = 0x4002_3830;
    const APB1ENR: u32 = 0x4002_3840;
    const APB2ENR: u32 = 0x4002_3844;
    const RCC: u32 = 0x4002_3800;
    const GPIOA: u32 = 0x4002_0000;
    const TIM2: u32 = 0x4000_0000;

    /// A chip at reset with the clocks of GPIOA, TIM2 and SYSCFG on.
    fn soc() -> Soc {
        let mut soc = Soc::new(Memory::default());
        write(
            &mut soc,
            0,
            &[(AHB1ENR, 1), (APB1ENR, 1), (APB2ENR, 1 << 14)],
        );
        soc
    }

    /// Where PA0 is TIM2_CH1 and PA8 an output.
    fn wired() -> Soc {
        let mut soc = soc();
        write(&mut soc, 0, &[(GPIOA + 0x20, 1), (GPIOA, 0xA801_0002)]);
        soc
    }

    fn write(soc: &mut Soc, now: u64, writes: &[(u32, u32)]) {
        for &(address, value) in writes {
            soc.write(address, Width::Word, value, now).unwrap();
        }
    }

    fn word(soc: &mut Soc, address: u32) -> u32 {
        soc.read(address, Width::Word, 0).unwrap().value
    }

    /// What is not modelled. Empty if the access was answered.
    fn refusal<T>(outcome: Result<T, Fault>) -> String {
        match outcome {
            Err(Fault::Unmodelled { what, .. }) => what,
            _ => String::new(),
        }
    }

    fn edge(cycle: u64, number: u8, level: bool) -> Edge {
        Edge {
            cycle,
            pin: Pin { port: 0, number },
            level,
            output: true,
        }
    }

    #[test]
    fn what_is_not_modelled_is_named() {
        for (address, value, name) in [
            (TIM2 + 0x08, 7, "TIM2_SMCR (bits 0x00000007)"),
            (TIM2, 0x10, "TIM2_CR1 (bits 0x00000010)"),
            (0x4000_3800, 0xFF, "SPI2_CR1 (its clock is off in RCC)"),
        ] {
            assert_eq!(refusal(soc().write(address, Width::Word, value, 0)), name);
        }
    }

    #[test]
    fn who_has_answered_does_not_once_its_clock_stops() {
        let mut soc = soc();
        let off = "TIM2_CR1 (its clock is off in RCC)";
        write(&mut soc, 0, &[(TIM2, 1), (APB1ENR, 0)]);
        assert_eq!(refusal(soc.write(TIM2, Width::Word, 1, 0)), off);
        write(&mut soc, 0, &[(APB1ENR, 1)]);
        assert_eq!(word(&mut soc, TIM2), 1);
        soc.reset(0, ResetCause::Pin).unwrap();
        assert_eq!(refusal(soc.read(TIM2, Width::Word, 0)), off);
    }

    #[test]
    fn a_remembered_responder_is_the_one_that_the_map_finds() {
        const REGISTERS: [u32; 8] = [
            AHB1ENR,
            APB1ENR,
            APB2ENR,
            GPIOA + 0x14,
            TIM2 + 0x24,
            TIM2 + 0x2C,
            0x4000_4400, // USART2_SR
            0x4001_3800, // SYSCFG_MEMRMP
        ];
        let mut random = Random(1);
        let (mut remembering, mut searching) = (soc(), soc());
        for now in 0..20_000 {
            let address = REGISTERS[random.below(REGISTERS.len() as u32) as usize];
            let value = random.setting();
            searching.logic.responders.forget();
            let [found, expected] = [&mut remembering, &mut searching].map(|soc| {
                if value & 1 == 0 {
                    let loaded = soc.read(address, Width::Word, now);
                    loaded.map(|loaded| (loaded.value, loaded.wait_cycles))
                } else {
                    let written = soc.write(address, Width::Word, value >> 1, now);
                    written.map(|wait_cycles| (0, wait_cycles))
                }
            });
            assert_eq!(found, expected, "{address:#x}, cycle {now}");
        }
        let [one, other] = [remembering, searching].map(|soc| postcard::to_allocvec(&soc).unwrap());
        assert!(one == other);
    }

    #[test]
    fn nothing_answers_between_the_peripherals() {
        let mut soc = soc();
        for address in [
            0x1000_0000,
            0x2001_8000,
            0x4000_1000,
            0x6000_0000,
            0xE004_2400,
        ] {
            let fault = Err(Fault::Bus { address });
            assert_eq!(soc.write(address, Width::Word, 0, 0), fault);
            assert_eq!(soc.read(address, Width::Word, 0).map(|_| 0), fault);
        }
        assert_eq!(word(&mut soc, 0xE004_2000), 0x1001_6433);
    }

    #[test]
    fn ahb_registers_take_byte_lanes_and_apb_registers_repeat_narrow_data() {
        let mut soc = soc();
        soc.write(GPIOA + 0x21, Width::Byte, 0x5A, 0).unwrap();
        assert_eq!(word(&mut soc, GPIOA + 0x20), 0x5A00);
        let byte = soc.read(GPIOA + 0x21, Width::Byte, 0).unwrap();
        assert_eq!(byte.value, 0x5A);
        // RM0368 §2.1.6: the bridge repeats 8 or 16 bits in all of the 32-bit word.
        soc.write(TIM2 + 0x2C, Width::Half, 0x1234, 0).unwrap();
        assert_eq!(word(&mut soc, TIM2 + 0x2C), 0x1234_1234);
        // Repeated data on reserved bits has no effect.
        soc.write(TIM2, Width::Half, 0x0004, 0).unwrap();
        assert_eq!(word(&mut soc, TIM2), 0x0004);
    }

    #[test]
    fn a_store_behind_a_match_is_recorded_behind_it() {
        let mut soc = wired();
        let toggling = [(0x34, 50), (0x18, 3 << 4), (0x20, 1), (0x00, 1)];
        write(
            &mut soc,
            0,
            &toggling.map(|(offset, value)| (TIM2 + offset, value)),
        );
        assert_eq!(soc.next_event(), 51);
        // The second store of a long instruction comes after the match, although no event was
        // handled in between.
        write(&mut soc, 53, &[(GPIOA + 0x18, 1 << 8)]);
        assert_eq!(soc.take_edges(), [edge(51, 0, true), edge(53, 8, true)]);
    }

    #[test]
    fn an_output_pin_reaches_its_external_interrupt() {
        let mut soc = wired();
        // EXTI_IMR and EXTI_RTSR.
        write(&mut soc, 0, &[(0x4001_3C00, 1 << 8), (0x4001_3C08, 1 << 8)]);
        assert_eq!(soc.interrupt_lines(), 0);
        write(&mut soc, 0, &[(GPIOA + 0x18, 1 << 8)]);
        assert_eq!(soc.interrupt_lines(), 1 << 23);
    }

    #[test]
    fn an_edge_of_a_pin_is_captured() {
        let mut soc = wired();
        let capturing = [(0x18, 1), (0x20, 1), (0x0C, 2), (0x00, 1)];
        write(
            &mut soc,
            0,
            &capturing.map(|(offset, value)| (TIM2 + offset, value)),
        );
        write(&mut soc, 501, &[(GPIOA + 0x0C, 0x6400_0001)]); // pulled up
        assert_eq!(soc.interrupt_lines(), 1 << 28);
        assert_eq!(word(&mut soc, TIM2 + 0x34), 500);
        assert_eq!(soc.interrupt_lines(), 0);
    }

    #[test]
    fn a_channel_drives_its_pin_until_it_listens_and_again_from_its_reset_on() {
        let mut soc = wired();
        let reset = RCC + 0x20;
        for (writes, driven) in [
            (&[][..], 1),
            (&[(TIM2 + 0x18, 1)], 0),
            (&[(reset, 1), (reset, 0)], 1),
        ] {
            write(&mut soc, 0, writes);
            assert_eq!(soc.levels[0].driven & 1, driven);
        }
    }

    #[test]
    fn resetting_a_port_returns_its_pins() {
        let mut soc = wired();
        write(&mut soc, 1, &[(GPIOA + 0x18, 1 << 8)]);
        write(&mut soc, 2, &[(RCC + 0x10, 1)]); // RCC_AHB1RSTR
        assert_eq!(word(&mut soc, GPIOA), 0xA800_0000);
        assert_eq!(soc.take_edges(), [edge(1, 8, true), edge(2, 8, false)]);
    }

    #[test]
    fn a_chip_runs_as_fast_as_its_manual_says() {
        // (chip, PLLN and PLLP for HSI / 16, wait states, PWR_CR, CFGR, what is exceeded)
        let settings = [
            ("f401re", 336 | 1 << 10, 2, 0x8000, 0b100 << 10, ""), // 84 MHz
            ("f401re", 200, 3, 0x8000, 0b100 << 10, "VOS"),        // 100 MHz
            ("f411re", 200, 3, 0xC000, 0b100 << 10, ""),
            ("f411re", 200, 2, 0xC000, 0b100 << 10, "LATENCY"), // one wait state less
            ("f411re", 200, 3, 0x8000, 0b100 << 10, "VOS"),     // scale 2
            ("f411re", 200, 3, 0xC000, 0, "PCLK1"),             // of 100 MHz
            ("f407vg", 336, 5, 0x4000, 0b101 << 10 | 0b100 << 13, ""), // 168 MHz
            ("f407vg", 336, 5, 0x4000, 0b101 << 10, "PCLK2"),   // of 168 MHz
        ];
        for (chip, multiplier, wait_states, power, prescalers, exceeded) in settings {
            let mut soc = Soc::new(Memory::of(crate::chip::Chip::named(chip).unwrap()));
            let started = [
                (APB1ENR, 1 << 28),
                (0x4000_7000, power),
                (0x4002_3C00, wait_states),
                (RCC + 4, 16 | multiplier << 6 | 7 << 24),
                (RCC, 0x83 | 1 << 24),
            ];
            write(&mut soc, 0, &started);
            let ready = 1_000_000;
            write(&mut soc, ready, &[(RCC + 8, prescalers)]);
            let why = refusal(soc.write(RCC + 8, Width::Word, prescalers | 2, ready));
            assert_eq!(why.is_empty(), exceeded.is_empty(), "{chip} {multiplier}");
            assert!(why.contains(exceeded), "{chip}: {why}");
        }
    }

    #[test]
    fn a_line_that_two_timers_share_is_high_for_either() {
        let mut soc = soc();
        let (tim1, tim10) = (0x4001_0000, 0x4001_4400);
        write(&mut soc, 0, &[(APB2ENR, 1 | 1 << 17)]);
        for base in [tim1, tim10] {
            write(&mut soc, 0, &[(base + 0x0C, 1), (base + 0x14, 1)]); // UIE, UG
        }
        for (base, lines) in [(tim1, 1 << 25), (tim10, 0)] {
            assert_eq!(soc.interrupt_lines(), 1 << 25);
            write(&mut soc, 0, &[(base + 0x10, 0)]);
            assert_eq!(soc.interrupt_lines(), lines);
        }
    }
}
