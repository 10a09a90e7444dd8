//! What a write to RCC changes in the rest of the chip.

use super::Soc;
use crate::manners::Oddity;
use crate::peripherals::address_map::{reset_by, Entry};
use crate::peripherals::registers::Unmodelled;
use crate::peripherals::Supply;
use serde::{Deserialize, Serialize};

/// Limits of the core clock that one write exceeded, a bit each, the words of its note, and when.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Excess {
    limits: u8,
    what: String,
    since: u64,
}

impl Soc {
    pub(super) fn rcc_written(
        &mut self,
        offset: u32,
        value: u32,
        now: u64,
    ) -> Result<(), Unmodelled> {
        for block in reset_by(self.memory.chip(), offset, value) {
            self.block(block).reset();
            self.propagate_write(block, 0, 0, now)?;
        }
        self.clock_turned_on(now);
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
        self.check_core_clock(now)
    }

    fn distribute_clocks(&mut self, now: u64) {
        let chip = self.memory.chip();
        for place in &chip.peripherals {
            if let Some(block) = place.block {
                let supply = self.supply(place);
                self.block(block).set_clocks(&supply, now);
            }
        }
        self.clock_scripts(now);
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

    /// Limits of the chip. They should hold after every single write, so firmware must write in the
    /// right order. An error names those that were kept before this write.
    pub(super) fn check_core_clock(&mut self, now: u64) -> Result<(), Unmodelled> {
        let before = std::mem::take(&mut self.exceeded);
        let (mut fresh, mut limits) = (Vec::new(), 0);
        for (limit, why) in self.exceeded_limits().into_iter().enumerate() {
            let Some(why) = why else {
                continue;
            };
            self.exceeded |= 1 << limit;
            if before >> limit & 1 == 0 {
                fresh.push(why);
                limits |= 1 << limit;
            }
        }
        self.end_excesses(now);
        if fresh.is_empty() {
            return Ok(());
        }
        let what = format!("RCC_CFGR ({})", fresh.join("; "));
        self.excesses.push(Excess {
            limits,
            what: what.clone(),
            since: now,
        });
        Err(Unmodelled(what, Oddity::Setting))
    }

    /// Core cycles in one of PCLK1 and of PCLK2.
    pub fn apb_dividers(&self) -> [u64; 2] {
        [self.clocks.apb1_divider, self.clocks.apb2_divider]
    }

    /// Tells the notes how long what is over lasted.
    pub(super) fn end_excesses(&mut self, now: u64) {
        let (exceeded, notes) = (self.exceeded, &mut self.notes);
        self.excesses.retain(|one| {
            let lasts = one.limits & exceeded != 0;
            if !lasts {
                notes.lasted(&one.what, now - one.since);
            }
            lasts
        });
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
}
