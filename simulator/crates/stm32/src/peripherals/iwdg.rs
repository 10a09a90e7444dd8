//! Independent watchdog (RM0368 §15): a down-counter on the LSI. At zero it resets the chip.

use super::registers::{merged, registers, rows, Register, Registers, Unmodelled};
use super::{Peripheral, ResetCause, Supply};
use crate::timebase::Frequency;
use serde::{Deserialize, Serialize};

const UNLOCK: u32 = 0x5555;
const RELOAD: u32 = 0xAAAA;
const START: u32 = 0xCCCC;
const PVU: u32 = 1 << 0;
const RVU: u32 = 1 << 1;
/// The counter's value when it is started (§15.3).
const FULL: u64 = 0x1000;
/// A new prescaler or reload value takes at most this many clocks of the LSI to take effect
/// (§15.4.4).
const UPDATE_CLOCKS: u64 = 5;

registers! {
    TABLE:
    KR = 0x00, 0, 0xFFFF;
    PR = 0x04, 0, 0b111;
    RLR = 0x08, 0x0FFF, 0x0FFF;
    SR = 0x0C, 0, 0, inert PVU | RVU;
}
/// RM0351 §36.4, RM0091 §23.4: with a window, which is not modelled.
static WINDOW_TABLE: [Register; 5] = {
    let rows = rows! {
        SR, "SR", 0, 0, inert PVU | RVU | 0b100;
        0x10, "WINR", 0x0FFF, 0, missing 0x0FFF;
    };
    merged(TABLE, &rows)
};

#[derive(Clone, Serialize, Deserialize)]
pub struct Iwdg {
    registers: Registers,
    core: Frequency,
    lsi_hz: u64,
    /// RCC_CSR.LSION. Once started, the watchdog itself keeps the LSI on.
    lsi_on: bool,
    unlocked: bool,
    /// The cycle in which the counter reaches zero. `None` before the start.
    expiry: Option<u64>,
    /// The cycles in which PVU and RVU are cleared.
    updated: [u64; 2],
    /// The chip must be reset.
    expired: bool,
}

impl Iwdg {
    /// `lsi_hz` is the LSI's typical frequency, and `core` the core's clock after a reset.
    pub fn new(has_window: bool, lsi_hz: u64, core: Frequency) -> Iwdg {
        let table: &'static [Register] = match has_window {
            false => TABLE,
            true => &WINDOW_TABLE,
        };
        Iwdg {
            registers: Registers::new("IWDG", table),
            core,
            lsi_hz,
            lsi_on: false,
            unlocked: false,
            expiry: None,
            updated: [0; 2],
            expired: false,
        }
    }

    /// Sets the core's clock, which gives the LSI's clocks in cycles, and whether RCC turns the LSI
    /// on.
    fn set_sources(&mut self, core: Frequency, lsi_on: bool, now: u64) {
        if core != self.core {
            let (old, new) = (self.core, core);
            let convert = |cycle: &mut u64| *cycle = rescaled(*cycle, now, old, new);
            self.expiry.iter_mut().for_each(convert);
            self.updated.iter_mut().for_each(convert);
            self.core = core;
        }
        let was_running = self.lsi_runs();
        self.lsi_on = lsi_on;
        self.lsi_changed(was_running, now);
    }

    fn lsi_runs(&self) -> bool {
        self.lsi_on || self.expiry.is_some()
    }

    /// If the LSI has just started, updates that waited for it begin.
    fn lsi_changed(&mut self, was_running: bool, now: u64) {
        if !was_running && self.lsi_runs() {
            let end = now + self.cycles(UPDATE_CLOCKS);
            for updated in self.updated.iter_mut().filter(|cycle| **cycle == u64::MAX) {
                *updated = end;
            }
        }
    }

    fn cycles(&self, lsi_clocks: u64) -> u64 {
        (lsi_clocks * self.core.numerator).div_ceil(self.core.denominator * self.lsi_hz)
    }

    /// Core cycles of this many counts (§15.4.2: PR divides by 4, 8, … 256).
    fn counts(&self, counts: u64) -> u64 {
        let prescaler = 4 << self.registers.get(PR).min(6);
        self.cycles(counts * prescaler)
    }

    fn write_key(&mut self, key: u32, now: u64) {
        self.unlocked = key == UNLOCK;
        match key {
            RELOAD if self.expiry.is_some() => {
                let reload = u64::from(self.registers.get(RLR)) + 1;
                self.expiry = Some(now + self.counts(reload));
            }
            START if self.expiry.is_none() => {
                let was_running = self.lsi_runs();
                self.expiry = Some(now + self.counts(FULL));
                self.lsi_changed(was_running, now);
            }
            _ => {}
        }
    }

    /// A protected register (§15.3.2).
    fn write_value(&mut self, offset: u32, value: u32, now: u64) -> Result<(), Unmodelled> {
        if !self.unlocked {
            return Ok(());
        }
        let flag = usize::from(offset == RLR);
        if self.updated[flag] > now {
            // §15.4.2, §15.4.3: it can be written only when the update is over.
            return Err(self
                .registers
                .remark(offset, "written while SR tells of its update"));
        }
        let left = self
            .expiry
            .map(|expiry| (expiry - now).div_ceil(self.counts(1)));
        self.registers.set(offset, value);
        self.expiry = left.map(|counts| now + self.counts(counts));
        self.updated[flag] = if self.lsi_runs() {
            now + self.cycles(UPDATE_CLOCKS)
        } else {
            u64::MAX
        };
        Ok(())
    }
}

/// The cycle at the new clock that lies as many seconds after `now` as `cycle` did at the old one.
fn rescaled(cycle: u64, now: u64, old: Frequency, new: Frequency) -> u64 {
    if cycle <= now || cycle == u64::MAX {
        return cycle;
    }
    let numerator = u128::from(new.numerator) * u128::from(old.denominator);
    let denominator = u128::from(old.numerator) * u128::from(new.denominator);
    now + (u128::from(cycle - now) * numerator).div_ceil(denominator) as u64
}

impl Peripheral for Iwdg {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn read(&mut self, offset: u32, now: u64) -> u32 {
        match offset {
            KR => 0,
            SR => {
                let flag = |index: usize, flag| if self.updated[index] > now { flag } else { 0 };
                flag(0, PVU) | flag(1, RVU)
            }
            _ => self.registers.get(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, now: u64) -> Result<(), Unmodelled> {
        match offset {
            KR => self.write_key(value, now),
            PR | RLR => self.write_value(offset, value, now)?,
            _ => {}
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.registers.reset();
        self.unlocked = false;
        self.expiry = None;
        self.updated = [0; 2];
        self.expired = false;
    }

    fn next_event(&self) -> Option<u64> {
        self.expiry
    }

    fn set_clocks(&mut self, clocks: &Supply, now: u64) {
        self.set_sources(clocks.core, clocks.lsi_on, now);
    }

    fn advance(&mut self, now: u64) {
        if self.expiry.is_some_and(|expiry| expiry <= now) {
            self.reset();
            self.expired = true;
        }
    }

    fn take_reset(&mut self) -> Option<ResetCause> {
        let expired = std::mem::take(&mut self.expired);
        expired.then_some(ResetCause::IndependentWatchdog)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peripherals::tests::*;

    fn f401() -> Iwdg {
        Iwdg::new(false, 32_000, Frequency::hz(16_000_000))
    }

    #[test]
    fn the_timeouts_are_those_of_the_table() {
        // §15.3.3, table 61: 0.125 ms to 512 ms at /4, up to 32,768 ms at /256. 16,000 cycles a
        // millisecond.
        for (prescaler, reload, cycles) in [
            (0, 0, 2_000),
            (0, 0xFFF, 512 * 16_000),
            (6, 0xFFF, 32_768 * 16_000),
            (7, 0xFFF, 32_768 * 16_000),
        ] {
            let mut iwdg = f401();
            for (offset, value) in [
                (KR, UNLOCK),
                (PR, prescaler),
                (RLR, reload),
                (KR, START),
                (KR, RELOAD),
            ] {
                iwdg.write(offset, value, 7).unwrap();
            }
            assert_eq!(iwdg.next_event(), Some(7 + cycles));
        }
    }

    #[test]
    fn started_it_counts_from_the_top_whatever_the_reload_value() {
        let mut iwdg = f401();
        iwdg.follow([
            Event(None),
            Write(KR, RELOAD, 0),
            Event(None),
            Write(KR, START, 100),
            Event(Some(100 + 512 * 16_000)),
            Write(KR, START, 200),
            Event(Some(100 + 512 * 16_000)),
        ]);
    }

    #[test]
    fn values_are_protected_and_take_five_clocks_of_the_lsi() {
        let mut iwdg = f401();
        iwdg.follow([
            Write(RLR, 5, 0),
            Read(RLR, 0xFFF, 0),
            Write(KR, START, 0),
            Write(KR, UNLOCK, 0),
            Write(PR, 1, 0),
            Write(RLR, 5, 0),
            Read(SR, PVU | RVU, 2_499),
        ]);
        assert!(iwdg.write(RLR, 6, 2_499).is_err());
        iwdg.follow([
            Read(SR, 0, 2_500),
            Write(KR, RELOAD, 2_500),
            // Six counts of eight clocks of 500 cycles.
            Event(Some(2_500 + 6 * 8 * 500)),
            Write(RLR, 9, 2_500),
            Read(RLR, 5, 2_500),
        ]);
    }

    #[test]
    fn updates_wait_for_the_lsi() {
        let mut iwdg = f401();
        iwdg.follow([
            Write(KR, UNLOCK, 0),
            Write(PR, 1, 0),
            Read(SR, PVU, 1_000_000),
        ]);
        iwdg.set_sources(Frequency::hz(16_000_000), true, 1_000_000);
        iwdg.follow([Read(SR, PVU, 1_002_499), Read(SR, 0, 1_002_500)]);
    }

    #[test]
    fn the_time_left_survives_a_change_of_the_core_clock() {
        let mut iwdg = f401();
        iwdg.write(KR, START, 0).unwrap();
        // Half of the 512 ms at 16 MHz, the rest at 84 MHz.
        let half = 256 * 16_000;
        iwdg.set_sources(Frequency::hz(84_000_000), false, half);
        assert_eq!(iwdg.next_event(), Some(half + 256 * 84_000));
    }
}
