//! The Data Watchpoint and Trace unit's counters (C1.8): CYCCNT, gated by DEMCR.TRCENA and DWT_CTRL.CYCCNTENA, and the five
//! that tell where cycles went. The packets that they send when they wrap are not modelled.

use serde::{Deserialize, Serialize};

pub const CYCCNTENA: u32 = 1 << 0;
/// CPIEVTENA; those of the others follow in the order of [`Event`].
const FIRST_EVENT_ENABLE: u32 = 17;
pub const EVENT_ENABLES: u32 = 0b11111 << FIRST_EVENT_ENABLE;
/// NUMCOMP = 4 (TRM table 9-1).
const CONTROL_FIXED: u32 = 0x4000_0000;

#[derive(Clone, Serialize, Deserialize)]
pub struct CycleCounter {
    trace_enabled: bool,
    counting: bool,
    /// CYCCNT at `epoch`; at any time while it stands still.
    value: u32,
    epoch: u64,
}

impl CycleCounter {
    pub fn new() -> CycleCounter {
        CycleCounter {
            trace_enabled: false,
            counting: false,
            value: 0,
            epoch: 0,
        }
    }

    pub fn read(&self, now: u64) -> u32 {
        if self.trace_enabled && self.counting {
            self.value.wrapping_add(now.wrapping_sub(self.epoch) as u32)
        } else {
            self.value
        }
    }

    pub fn write(&mut self, value: u32, now: u64) {
        self.value = value;
        self.epoch = now;
    }

    pub fn control(&self) -> u32 {
        CONTROL_FIXED | self.counting as u32
    }

    pub fn set_counting(&mut self, counting: bool, now: u64) {
        self.write(self.read(now), now);
        self.counting = counting;
    }

    pub fn set_trace_enabled(&mut self, enabled: bool, now: u64) {
        self.write(self.read(now), now);
        self.trace_enabled = enabled;
    }
}

/// What the eight-bit counters count, in the order of their registers from DWT_CPICNT on (C1.8.8–C1.8.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Cycles beyond the first of instructions other than loads and stores, and cycles that wait for instructions.
    Cpi,
    /// Cycles of entering and leaving exceptions.
    Exception,
    Sleep,
    /// Cycles beyond the first of loads and stores.
    LoadStore,
    /// Instructions that take no cycle.
    Fold,
}

const EVENTS: usize = 5;

/// Where cycles went since power-up, as far as anybody asked: instructions = cycles - CPI - exceptions - sleep - loads and
/// stores + folded (C1.8.1) for any time in which [`EventCounters::profile`] held.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct EventCounters {
    totals: [u64; EVENTS],
    counters: [EventCounter; EVENTS],
    trace_enabled: bool,
}

impl EventCounters {
    #[inline(always)]
    pub fn count(&mut self, event: Event, number: u64) {
        let total = &mut self.totals[event as usize];
        *total = total.wrapping_add(number);
    }

    /// Somebody wants to know what each instruction cost.
    pub fn profile(&self) -> bool {
        let by_instruction = [Event::Cpi, Event::LoadStore, Event::Fold];
        self.trace_enabled
            && by_instruction
                .iter()
                .any(|&event| self.counters[event as usize].enabled)
    }

    /// The enables in DWT_CTRL.
    pub fn control(&self) -> u32 {
        let bits = self.counters.iter().enumerate();
        bits.fold(0, |control, (n, counter)| {
            control | (counter.enabled as u32) << n
        }) << FIRST_EVENT_ENABLE
    }

    /// Takes the enables over: a counter that is enabled anew starts from 0 (C1.8.7).
    pub fn set_control(&mut self, value: u32) {
        for (n, counter) in self.counters.iter_mut().enumerate() {
            let enabled = value >> FIRST_EVENT_ENABLE >> n & 1 != 0;
            if enabled && !counter.enabled {
                counter.write(0, self.totals[n]);
            }
            counter.enabled = enabled;
            counter.run(enabled && self.trace_enabled, self.totals[n]);
        }
    }

    pub fn set_trace_enabled(&mut self, enabled: bool) {
        self.trace_enabled = enabled;
        for (counter, &total) in self.counters.iter_mut().zip(&self.totals) {
            counter.run(counter.enabled && enabled, total);
        }
    }

    /// Counter number `n`; DWT_CPICNT is 0.
    pub fn read(&self, n: usize) -> u32 {
        self.counters[n].read(self.totals[n])
    }

    pub fn write(&mut self, n: usize, value: u32) {
        self.counters[n].write(value, self.totals[n]);
    }
}

/// An eight-bit counter, which wraps.
#[derive(Clone, Default, Serialize, Deserialize)]
struct EventCounter {
    /// Its bit in DWT_CTRL.
    enabled: bool,
    running: bool,
    /// The count; less the total while it runs.
    value: u64,
}

impl EventCounter {
    /// `total` is the number of such events since power-up.
    fn read(&self, total: u64) -> u32 {
        let counted = if self.running { total } else { 0 };
        self.value.wrapping_add(counted) as u8 as u32
    }

    fn write(&mut self, value: u32, total: u64) {
        let counted = if self.running { total } else { 0 };
        self.value = u64::from(value as u8).wrapping_sub(counted);
    }

    fn run(&mut self, running: bool, total: u64) {
        let value = self.read(total);
        self.running = running;
        self.write(value, total);
    }
}
