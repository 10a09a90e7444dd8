//! What a write to RCC changes in the rest of the chip.

use super::address_map::Entry;
use super::silicon::AHB_DELAY_CYCLES;
use super::{Excess, Soc};
use crate::chip::Bus;
use crate::manners::Oddity;
use crate::peripherals::registers::Unmodelled;
use crate::peripherals::Supply;

impl Soc {
    pub(super) fn rcc_written(
        &mut self,
        offset: u32,
        value: u32,
        now: u64,
    ) -> Result<(), Unmodelled> {
        if self.map.turns_on(offset) {
            self.logic.responders.forget();
        }
        for block in self.map.reset_by(offset, value) {
            self.block(block).reset();
            self.propagate_write(block, 0, 0, now)?;
        }
        let slowest = self
            .logic
            .clocks
            .apb1_divider
            .max(self.logic.clocks.apb2_divider);
        self.logic.settles_until = now + AHB_DELAY_CYCLES.max(1 + slowest);
        self.logic.pwr.set_pll_on(self.logic.rcc.pll_on());
        let clocks = self.logic.rcc.clocks();
        if clocks.core != self.logic.clocks.core {
            self.timebase
                .change(now, clocks.core)
                .map_err(|why| Unmodelled(format!("RCC_CFGR ({why})"), Oddity::Mode))?;
            self.logic.attention = true;
        }
        self.logic.clocks = clocks;
        for n in 0..self.map.entries.len() {
            let entry = self.map.entries[n];
            if let Some(block) = entry.block {
                let supply = self.supply(&entry);
                self.block(block).set_clocks(&supply, now);
            }
        }
        self.clock_scripts(now);
        for source in 0..self.logic.schedule.cycles.len() {
            self.reschedule(source);
        }
        self.check_core_clock(now)
    }

    /// The clocks that reach a peripheral.
    fn supply(&self, entry: &Entry) -> Supply {
        let clocked = |clock: (u32, u32)| self.logic.rcc.enabled(clock.0, clock.1);
        let on = entry.clock.is_none_or(clocked);
        let bus = match entry.place.bus == Bus::Apb2 {
            true => self.logic.clocks.apb2_divider,
            false => self.logic.clocks.apb1_divider,
        };
        let timer = self.logic.clocks.timer_divider(bus);
        Supply {
            bus: on.then_some(bus),
            timer: on.then_some(timer),
            core: self.logic.clocks.core,
            pll_48: self.logic.rcc.pll_48().filter(|_| on),
            lsi_on: self.logic.rcc.lsi_on(),
        }
    }

    /// Limits of the chip. They should hold after every single write, so firmware must write in the
    /// right order. An error names those that were kept before this write.
    pub(super) fn check_core_clock(&mut self, now: u64) -> Result<(), Unmodelled> {
        let before = std::mem::take(&mut self.logic.exceeded);
        let (mut fresh, mut limits) = (Vec::new(), 0);
        for (limit, why) in self.exceeded_limits().into_iter().enumerate() {
            let Some(why) = why else {
                continue;
            };
            self.logic.exceeded |= 1 << limit;
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
        self.logic.excesses.push(Excess {
            limits,
            what: what.clone(),
            since: now,
        });
        Err(Unmodelled(what, Oddity::Setting))
    }

    /// Core cycles in one of PCLK1 and of PCLK2.
    pub fn apb_dividers(&self) -> [u64; 2] {
        [
            self.logic.clocks.apb1_divider,
            self.logic.clocks.apb2_divider,
        ]
    }

    /// Tells the notes how long what is over lasted.
    pub(super) fn end_excesses(&mut self, now: u64) {
        let (exceeded, notes) = (self.logic.exceeded, &mut self.notes);
        self.logic.excesses.retain(|one| {
            let lasts = one.limits & exceeded != 0;
            if !lasts {
                notes.lasted(&one.what, now - one.since);
            }
            lasts
        });
    }

    /// For each limit, by how it is exceeded.
    fn exceeded_limits(&self) -> [Option<String>; 4] {
        let core = self.logic.clocks.core;
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
                self.logic.flash.highest_core_hz(),
                "core clock too fast for FLASH_ACR.LATENCY",
            ),
            over(
                self.logic.pwr.highest_core_hz(),
                "core clock too fast for PWR_CR.VOS",
            ),
            bus(1, chip.apb1_hz, self.logic.clocks.apb1_divider),
            bus(2, chip.apb2_hz, self.logic.clocks.apb2_divider),
        ]
    }
}
