//! What a write to RCC changes in the rest of the chip.

use super::{Soc, I2CS, SPIS, TIMERS, USARTS};
use crate::peripherals::address_map::{clock_of, has, reset_by, Block};
use crate::peripherals::rcc::{AHB1RSTR, AHB2RSTR, APB1RSTR, APB2RSTR};
use crate::peripherals::registers::Unmodelled;
use crate::peripherals::{spi, timer, usart};

impl Soc {
    pub(super) fn rcc_written(
        &mut self,
        offset: u32,
        value: u32,
        now: u64,
    ) -> Result<(), Unmodelled> {
        if matches!(offset, AHB1RSTR | AHB2RSTR | APB1RSTR | APB2RSTR) {
            for block in reset_by(self.memory.chip(), offset, value) {
                self.block(block).reset();
                self.propagate_write(block, 0, 0, now)?;
            }
        }
        self.pwr.set_pll_on(self.rcc.pll_on());
        let clocks = self.rcc.clocks();
        if clocks.core != self.clocks.core {
            self.timebase
                .change(now, clocks.core)
                .map_err(|why| Unmodelled(format!("RCC_CFGR ({why})")))?;
            self.attention = true;
        }
        self.clocks = clocks;
        self.check_core_clock()?;
        self.distribute_clocks(now);
        Ok(())
    }

    fn distribute_clocks(&mut self, now: u64) {
        for timer in 0..TIMERS {
            let divider = if timer::MODELS[timer].on_apb2 {
                self.clocks.timer_divider_2()
            } else {
                self.clocks.timer_divider()
            };
            let divider = self.clocked(Block::Timer(timer)).then_some(divider);
            self.timers[timer].set_divider(divider, now);
        }
        for usart in 0..USARTS {
            let divider = self.divider(Block::Usart(usart), usart::MODELS[usart].on_apb2);
            self.usarts[usart].set_divider(divider);
        }
        for spi in 0..SPIS {
            let divider = self.divider(Block::Spi(spi), spi::MODELS[spi].on_apb2);
            self.spis[spi].set_divider(divider);
        }
        for i2c in 0..I2CS {
            self.i2cs[i2c].set_divider(self.divider(Block::I2c(i2c), false));
        }
        self.adc.set_divider(self.divider(Block::Adc, true));
        let core = self.clocks.core;
        let pll_48 = self.rcc.pll_48().filter(|_| self.clocked(Block::Rng));
        self.rng.set_clock(pll_48.map(|clock| {
            (
                core.numerator * clock.denominator,
                core.denominator * clock.numerator,
            )
        }));
        let divider = self.clocks.apb1_divider;
        let divider = self.clocked(Block::Wwdg).then_some(divider);
        self.wwdg.set_divider(divider, now);
        self.flash.set_core_clock(self.clocks.core);
        self.iwdg
            .set_clocks(self.clocks.core, self.rcc.lsi_on(), now);
        self.reschedule_all();
    }

    /// Limits of the chip. They hold after every single write, so firmware must write in the right
    /// order.
    pub(super) fn check_core_clock(&self) -> Result<(), Unmodelled> {
        let core = self.clocks.core;
        let chip = self.memory.chip();
        let refuse = |why: &str| Err(Unmodelled(format!("RCC_CFGR ({why})")));
        if core.exceeds_hz(self.flash.highest_core_hz()) {
            return refuse("core clock too fast for FLASH_ACR.LATENCY");
        }
        if core.exceeds_hz(self.pwr.highest_core_hz()) {
            return refuse("core clock too fast for PWR_CR.VOS");
        }
        // RM0368 §6.2: PCLK1 and PCLK2 have limits of their own.
        for (bus, highest_hz, divider) in [
            (1, chip.apb1_hz, self.clocks.apb1_divider),
            (2, chip.apb2_hz, self.clocks.apb2_divider),
        ] {
            if core.exceeds_hz(highest_hz * divider) {
                let mhz = highest_hz / 1_000_000;
                return refuse(&format!(
                    "PCLK{bus} above {mhz} MHz: PPRE{bus} divides too little"
                ));
            }
        }
        Ok(())
    }

    /// Core cycles per PCLK of a peripheral. `None` while its clock is off.
    fn divider(&self, block: Block, on_apb2: bool) -> Option<u64> {
        let divider = if on_apb2 {
            self.clocks.apb2_divider
        } else {
            self.clocks.apb1_divider
        };
        self.clocked(block).then_some(divider)
    }

    fn clocked(&self, block: Block) -> bool {
        has(self.memory.chip(), block)
            && clock_of(block).is_none_or(|(register, bit)| self.rcc.enabled(register, bit))
    }
}
