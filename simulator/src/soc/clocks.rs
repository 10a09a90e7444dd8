//! What a write to RCC changes in the rest of the chip.

use super::{Soc, I2CS, SPIS, TIMERS, USARTS};
use crate::manners::Oddity;
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
                .map_err(|why| Unmodelled(format!("RCC_CFGR ({why})"), Oddity::Mode))?;
            self.attention = true;
        }
        self.clocks = clocks;
        self.distribute_clocks(now);
        self.check_core_clock()
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

    /// Limits of the chip. They should hold after every single write, so firmware must write in the
    /// right order. An error names those that were kept before this write.
    pub(super) fn check_core_clock(&mut self) -> Result<(), Unmodelled> {
        let before = std::mem::take(&mut self.exceeded);
        let mut fresh = Vec::new();
        for (limit, why) in self.exceeded_limits().into_iter().enumerate() {
            let Some(why) = why else {
                continue;
            };
            self.exceeded |= 1 << limit;
            if before >> limit & 1 == 0 {
                fresh.push(why);
            }
        }
        if fresh.is_empty() {
            return Ok(());
        }
        let what = format!("RCC_CFGR ({})", fresh.join("; "));
        Err(Unmodelled(what, Oddity::Setting))
    }

    /// For each limit, by how it is exceeded.
    fn exceeded_limits(&self) -> [Option<String>; 4] {
        let core = self.clocks.core;
        let chip = self.memory.chip();
        let over = |highest_hz, why: &str| core.exceeds_hz(highest_hz).then(|| why.to_owned());
        // RM0368 §6.2: PCLK1 and PCLK2 have limits of their own.
        let bus = |bus: u32, highest_hz: u64, divider: u64| {
            core.exceeds_hz(highest_hz * divider).then(|| {
                let mhz = highest_hz / 1_000_000;
                format!("PCLK{bus} above {mhz} MHz: PPRE{bus} divides too little")
            })
        };
        [
            over(
                self.flash.highest_core_hz(),
                "core clock too fast for FLASH_ACR.LATENCY",
            ),
            over(
                self.pwr.highest_core_hz(),
                "core clock too fast for PWR_CR.VOS",
            ),
            bus(1, chip.apb1_hz, self.clocks.apb1_divider),
            bus(2, chip.apb2_hz, self.clocks.apb2_divider),
        ]
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
