//! The counters of the Data Watchpoint and Trace unit (C1.8). CYCCNT counts while DEMCR.TRCENA and
//! DWT_CTRL.CYCCNTENA are set. Five more tell where cycles went. The packets that they send when
//! they wrap are not modelled.

use serde::{Deserialize, Serialize};

pub const CYCCNTENA: u32 = 1 << 0;
/// CPIEVTENA. The enables of the others follow in the order of [`Event`].
const FIRST_EVENT_ENABLE: u32 = 17;
pub const EVENT_ENABLES: u32 = 0b11111 << FIRST_EVENT_ENABLE;
/// NUMCOMP = 4 (TRM table 9-1).
const CONTROL_FIXED: u32 = 0x4000_0000;

#[derive(Clone, Default, Serialize, Deserialize)]
pub struct CycleCounter {
    trace_enabled: bool,
    counting: bool,
    /// CYCCNT at `epoch`. While it stands still, at any time.
    value: u32,
    epoch: u64,
}

impl CycleCounter {
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

/// What the eight-bit counters count, in the order of their registers from DWT_CPICNT on
/// (C1.8.8–C1.8.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Waiting for instructions, and the cycles after the first of those that are no load or store.
    Cpi,
    /// Entering and leaving exceptions.
    Exception,
    Sleep,
    /// The cycles after the first of loads and stores.
    LoadStore,
    /// Instructions that take no cycle of their own.
    Fold,
}

const EVENTS: usize = 5;

/// How many of each event there were since power-up. While [`EventCounters::profile`] holds,
/// instructions = cycles - CPI - exceptions - sleep - loads and stores + folded (C1.8.1). Otherwise
/// events of single instructions are not counted.
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

    /// Whether a counter needs the cost of each instruction.
    pub fn profile(&self) -> bool {
        let by_instruction = [Event::Cpi, Event::LoadStore, Event::Fold];
        self.trace_enabled
            && by_instruction
                .iter()
                .any(|&event| self.counters[event as usize].enabled)
    }

    /// The enable bits of DWT_CTRL.
    pub fn control(&self) -> u32 {
        let bits = self.counters.iter().enumerate();
        bits.fold(0, |control, (n, counter)| {
            control | (counter.enabled as u32) << n
        }) << FIRST_EVENT_ENABLE
    }

    /// Takes the enable bits of DWT_CTRL. A counter that is newly enabled starts from 0 (C1.8.7).
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

    /// Reads counter `n`; 0 is DWT_CPICNT.
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
    /// The count. While running, the count less the total.
    value: u64,
}

impl EventCounter {
    /// `total`: how many such events there were since power-up.
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
