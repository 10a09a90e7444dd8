//! What a write to RCC does to the rest of the chip.

use super::{Soc, TIMERS};
use crate::peripherals::address_map::{clock_of, reset_by, Block};
use crate::peripherals::rcc::{AHB1RSTR, APB1RSTR, APB2RSTR};
use crate::peripherals::registers::Unmodelled;

impl Soc {
    pub(super) fn rcc_written(
        &mut self,
        offset: u32,
        value: u32,
        now: u64,
    ) -> Result<(), Unmodelled> {
        if matches!(offset, AHB1RSTR | APB1RSTR | APB2RSTR) {
            for block in reset_by(offset, value) {
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
            let divider = self.clocks.timer_divider();
            let divider = self.clocked(Block::Timer(timer)).then_some(divider);
            self.timers[timer].set_divider(divider, now);
        }
        let divider = self.clocks.apb1_divider;
        let divider = self.clocked(Block::Usart2).then_some(divider);
        self.usart2.set_divider(divider);
        let divider = self.clocks.apb1_divider;
        let divider = self.clocked(Block::Wwdg).then_some(divider);
        self.wwdg.set_divider(divider, now);
        self.flash.set_core_clock(self.clocks.core);
        self.iwdg
            .set_clocks(self.clocks.core, self.rcc.lsi_on(), now);
        self.reschedule_all();
    }

    /// Limits of the chip that firmware must respect in the order of its writes.
    pub(super) fn check_core_clock(&self) -> Result<(), Unmodelled> {
        let core = self.clocks.core;
        let refuse = |why: &str| Err(Unmodelled(format!("RCC_CFGR ({why})")));
        if core.exceeds_hz(self.flash.highest_core_hz()) {
            return refuse("core clock too fast for FLASH_ACR.LATENCY");
        }
        if core.exceeds_hz(self.pwr.highest_core_hz()) {
            return refuse("core clock too fast for PWR_CR.VOS");
        }
        // PCLK1 may be 42 MHz at most (RM0368 §6.2).
        if core.exceeds_hz(42_000_000 * self.clocks.apb1_divider) {
            return refuse("PCLK1 above 42 MHz: PPRE1 divides too little");
        }
        Ok(())
    }

    fn clocked(&self, block: Block) -> bool {
        clock_of(block).is_none_or(|(register, bit)| self.rcc.enabled(register, bit))
    }
}
