//! What a write to RCC changes in the rest of the chip.

use super::Soc;
use crate::peripherals::address_map::{entry_of, modelled_blocks, reset_by, Entry};
use crate::peripherals::rcc::{AHB1RSTR, AHB2RSTR, APB1RSTR, APB2RSTR};
use crate::peripherals::registers::Unmodelled;
use crate::peripherals::Supply;

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
        let chip = self.memory.chip();
        for block in modelled_blocks(chip) {
            if let Some(place) = entry_of(chip, block) {
                let supply = self.supply(place);
                self.block(block).set_clocks(&supply, now);
            }
        }
        self.reschedule_all();
    }

    /// The clocks that reach a peripheral.
    fn supply(&self, place: &Entry) -> Supply {
        let clocked = |clock: (u32, u32)| self.rcc.enabled(clock.0, clock.1);
        let on = place.clock.is_none_or(clocked);
        let (bus, timer) = match place.on_apb2 {
            true => (self.clocks.apb2_divider, self.clocks.timer_divider_2()),
            false => (self.clocks.apb1_divider, self.clocks.timer_divider()),
        };
        Supply {
            bus: on.then_some(bus),
            timer: on.then_some(timer),
            core: self.clocks.core,
            pll_48: self.rcc.pll_48().filter(|_| on),
            lsi_on: self.rcc.lsi_on(),
        }
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
}
