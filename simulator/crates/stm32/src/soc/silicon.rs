//! What silicon punishes and a model need not: it is noted, since a program that does it may fail
//! on the chip alone.

use super::Soc;
use crate::edges::PORTS;
use crate::manners::{Access, Oddity};
use crate::peripherals::registers::Unmodelled;
use cortex_m::bus::Fault;

/// AHB cycles from a write to RCC until the clock of a peripheral on the AHB runs (ES0299, "Delay
/// after an RCC peripheral clock enabling"; of another on the APB: 1 + the prescaler).
pub(super) const AHB_DELAY_CYCLES: u64 = 2;
/// NVIC_ISPR0 (PM0214 §4.3.4).
const NVIC_ISPR: u32 = 0xE000_E200;
const GPIOA: u32 = 0x4002_0000;
const PORT_BYTES: u32 = 0x400;
const NS_PER_S: u64 = 1_000_000_000;
/// A pulse is told of if an edge may take more than such a part of it: below that the pin is but
/// late, and a lamp or a slow bus does not mind.
const EDGES_OF_A_PULSE: u64 = 10;

impl Soc {
    /// Notes an access to a peripheral that its clock has not reached. A debugger's write to RCC
    /// takes no time, and neither does what it does next.
    #[cold]
    pub(super) fn look_at_clock(
        &mut self,
        address: u32,
        access: Access,
        now: u64,
    ) -> Result<(), Fault> {
        let Some(place) = self.map.find(address) else {
            return Ok(());
        };
        let since = place
            .clock
            .and_then(|(register, bit)| self.logic.rcc.turned_on_at(register, bit));
        let delay = match place.on_apb() {
            true => 1 + self.bridge_divider(address).unwrap_or(1),
            false => AHB_DELAY_CYCLES,
        };
        let Some(after) = since.and_then(|since| now.checked_sub(since)) else {
            return Ok(());
        };
        if after == 0 || after > delay {
            return Ok(());
        }
        let name = self.register_name(address).unwrap_or_default();
        let cycles = if after == 1 { "cycle" } else { "cycles" };
        let what = format!("{name} ({after} {cycles} after its clock was turned on)");
        self.take(Unmodelled(what, Oddity::Early), address, access, now)
    }

    /// Notes a handler that returns before the store that lowered its line has arrived.
    #[cold]
    pub(super) fn note_late_clear(&mut self, irq: u16, now: u64) {
        let what = format!(
            "interrupt {irq} (the store that clears it is still on its way when its handler returns)"
        );
        let address = NVIC_ISPR + u32::from(irq) / 32 * 4;
        self.remark(Unmodelled(what, Oddity::LateClear), address, now);
    }

    /// Looks at pulses of pins that have the lowest speed.
    #[cold]
    pub(super) fn look_at_edges(&mut self, port: usize, pins: u32, cycle: u64) {
        let mut slow = pins & self.logic.ports[port].slow();
        while slow != 0 {
            let pin = slow.trailing_zeros() as usize;
            slow &= slow - 1;
            let before = std::mem::replace(&mut self.logic.slow_pins.0[port][pin], cycle);
            let edge = self.slow_edge_cycles();
            if before != 0 && cycle - before < EDGES_OF_A_PULSE * edge {
                self.note_slow_pin(port, pin, cycle - before, cycle);
            }
        }
    }

    fn slow_edge_cycles(&self) -> u64 {
        let core = self.logic.clocks.core;
        let edge_ns = self.line().gpio.slow_edge_ns;
        (edge_ns * core.numerator).div_ceil(core.denominator * NS_PER_S)
    }

    fn note_slow_pin(&mut self, port: usize, pin: usize, width: u64, cycle: u64) {
        let letter = PORTS[port].trim_start_matches("GPIO");
        let edge = self.slow_edge_cycles();
        let speed = self.logic.ports[port].speed(pin as u32);
        let what = format!(
            "P{letter}{pin} (a pulse of {width} cycles, and with OSPEEDR {speed:02b} an edge may take {edge})"
        );
        let address = GPIOA + PORT_BYTES * port as u32;
        self.remark(Unmodelled(what, Oddity::SlowPin), address, cycle);
    }

    /// Notes what no access can refuse. If the manners do not take it, the machine stops.
    fn remark(&mut self, odd: Unmodelled, address: u32, now: u64) {
        let Unmodelled(what, oddity) = odd.clone();
        if self.notes.manners().takes(oddity, Access::Write) {
            self.logic.attention |= self.notes.note(oddity, what, address, Access::Write, now);
        } else {
            self.logic.refused.get_or_insert((odd, address));
            self.logic.attention = true;
        }
    }

    /// What the manners did not take since the last call, and where.
    pub fn take_refused(&mut self) -> Option<(Unmodelled, u32)> {
        self.logic.refused.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::Chip;
    use crate::manners::Manners;
    use crate::memory::Memory;
    use cortex_m::bus::{Bus, Width};

    const AHB1ENR: u32 = 0x4002_3830;
    const APB1ENR: u32 = 0x4002_3840;
    const TIM2: u32 = 0x4000_0000;
    const SLOW_AND_FAST: u32 = 1 << 2; // PA1 has medium speed

    fn polite() -> Soc {
        let mut soc = Soc::new(Memory::default());
        soc.notes_mut().set_manners(Manners::Polite);
        soc
    }

    fn write(soc: &mut Soc, address: u32, value: u32, now: u64) {
        soc.write(address, Width::Word, value, now).unwrap();
    }

    fn noted(soc: &Soc) -> Vec<String> {
        let notes = soc.notes().in_order();
        notes.iter().map(|note| note.what.clone()).collect()
    }

    #[test]
    fn a_peripheral_on_the_ahb_needs_two_cycles_and_on_the_apb_one_and_the_prescaler() {
        for (register, used, cycles, early) in [
            (AHB1ENR, GPIOA, 1, "GPIOA_MODER (1 cycle"),
            (AHB1ENR, GPIOA, 2, "GPIOA_MODER (2 cycles"),
            (AHB1ENR, GPIOA, 3, ""),
            // A debugger, for whom time stands still.
            (AHB1ENR, GPIOA, 0, ""),
            (APB1ENR, TIM2, 2, "TIM2_CR1 (2 cycles"),
            (APB1ENR, TIM2, 3, ""),
        ] {
            let mut soc = polite();
            write(&mut soc, register, 1, 1000);
            soc.read(used, Width::Word, 1000 + cycles).unwrap();
            let note = format!("{early} after its clock was turned on)");
            let expected = if early.is_empty() { vec![] } else { vec![note] };
            assert_eq!(noted(&soc), expected);
        }
        let mut soc = polite();
        write(&mut soc, 0x4002_3808, 0b101 << 10, 0); // RCC_CFGR: PPRE1 divides by four
        write(&mut soc, APB1ENR, 1, 1000);
        write(&mut soc, TIM2, 1, 1005);
        let early = "TIM2_CR1 (5 cycles after its clock was turned on)";
        assert_eq!(noted(&soc), [early]);
    }

    #[test]
    fn a_barrier_waits_for_the_clock_and_others_clocks_do_not_matter() {
        let mut soc = polite();
        write(&mut soc, AHB1ENR, 1, 1000);
        soc.barrier();
        write(&mut soc, GPIOA, 0, 1001);
        // GPIOA's clock was on before.
        write(&mut soc, AHB1ENR, 0b11, 2000);
        write(&mut soc, GPIOA, 0, 2001);
        assert_eq!(noted(&soc), [""; 0]);
        let mut soc = Soc::new(Memory::default());
        write(&mut soc, AHB1ENR, 1, 1000);
        assert!(soc.write(GPIOA, Width::Word, 0, 1001).is_err());
    }

    #[test]
    fn pulses_of_a_slow_pin_are_long() {
        let mut soc = polite();
        write(&mut soc, AHB1ENR, 1, 0);
        write(&mut soc, GPIOA, 0xA800_0005, 10); // PA0 and PA1 are outputs
        write(&mut soc, GPIOA + 8, 0x0C00_0000 | SLOW_AND_FAST, 10);
        // 16 MHz: 100 ns are two cycles, as far as whole ones go.
        for (cycle, level) in [(100, 0b11), (120, 0), (139, 0b11)] {
            write(&mut soc, GPIOA + 0x14, level, cycle);
        }
        let slow = "PA0 (a pulse of 19 cycles, and with OSPEEDR 00 an edge may take 2)";
        assert_eq!(noted(&soc), [slow]);
    }

    /// RM0091 §8.4.3: x0 is low, so 10, high elsewhere, is slow on the STM32F0.
    #[test]
    fn two_of_the_speeds_of_an_stm32f0_are_slow() {
        let mut soc = Soc::new(Memory::of(Chip::named("f072rb").unwrap()));
        soc.notes_mut().set_manners(Manners::Polite);
        let (ahbenr, port) = (0x4002_1014, 0x4800_0000);
        write(&mut soc, ahbenr, 1 << 17 | 0x14, 0); // and the flash and SRAM, on from the reset
        write(&mut soc, port, 0x2800_0055, 10); // PA0 to PA3 are outputs
        write(&mut soc, port + 8, 0x0C00_00E4, 10); // of speeds 00, 01, 10, 11
        for (cycle, level) in [(100, 0xF), (120, 0)] {
            write(&mut soc, port + 0x14, level, cycle);
        }
        // 8 MHz: 125 ns are one cycle, and a pulse of twenty is long enough for it.
        assert_eq!(noted(&soc), Vec::<String>::new());
        write(&mut soc, port + 0x14, 0xF, 129);
        let note = |pin, speed| {
            format!("PA{pin} (a pulse of 9 cycles, and with OSPEEDR {speed} an edge may take 1)")
        };
        assert_eq!(noted(&soc), [note(0, "00"), note(2, "10")]);
    }

    #[test]
    fn the_strict_refuse_a_slow_pin_and_a_late_clear() {
        let mut soc = Soc::new(Memory::default());
        soc.note_late_clear(50, 7);
        let (Unmodelled(what, oddity), address) = soc.take_refused().unwrap();
        assert!(what.starts_with("interrupt 50 ("));
        assert_eq!((oddity, address), (Oddity::LateClear, 0xE000_E204));
        assert_eq!(soc.take_refused(), None);
    }
}
