//! The Data Watchpoint and Trace unit's counters (C1.8): CYCCNT, gated by DEMCR.TRCENA and DWT_CTRL.CYCCNTENA, and those
//! of exception and sleep cycles. What it counts by instruction (CPICNT, LSUCNT, FOLDCNT) is not modelled.

use serde::{Deserialize, Serialize};

pub const CYCCNTENA: u32 = 1 << 0;
pub const EXCEVTENA: u32 = 1 << 18;
pub const SLEEPEVTENA: u32 = 1 << 19;
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

/// EXCCNT and SLEEPCNT, and what they count.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct EventCounters {
    /// Cycles of entering and leaving exceptions, since power-up.
    pub exception_cycles: u64,
    pub sleep_cycles: u64,
    exception: EventCounter,
    sleep: EventCounter,
}

impl EventCounters {
    /// The enables in DWT_CTRL.
    pub fn control(&self) -> u32 {
        let enable = |counter: &EventCounter, bit| if counter.counting { bit } else { 0 };
        enable(&self.exception, EXCEVTENA) | enable(&self.sleep, SLEEPEVTENA)
    }

    pub fn set_control(&mut self, value: u32) {
        self.exception
            .set_counting(value & EXCEVTENA != 0, self.exception_cycles);
        self.sleep
            .set_counting(value & SLEEPEVTENA != 0, self.sleep_cycles);
    }

    pub fn read_exceptions(&self) -> u32 {
        self.exception.read(self.exception_cycles)
    }

    pub fn write_exceptions(&mut self, value: u32) {
        self.exception.write(value, self.exception_cycles);
    }

    pub fn read_sleep(&self) -> u32 {
        self.sleep.read(self.sleep_cycles)
    }

    pub fn write_sleep(&mut self, value: u32) {
        self.sleep.write(value, self.sleep_cycles);
    }
}

/// An eight-bit counter of cycles of one kind (C1.8.8–C1.8.10): it starts from 0 when it is enabled, and wraps.
#[derive(Clone, Default, Serialize, Deserialize)]
struct EventCounter {
    counting: bool,
    /// The count; less `total` while it counts.
    value: u64,
}

impl EventCounter {
    /// `total` is the number of such cycles since power-up.
    fn read(&self, total: u64) -> u32 {
        let counted = if self.counting { total } else { 0 };
        self.value.wrapping_add(counted) as u8 as u32
    }

    fn write(&mut self, value: u32, total: u64) {
        let counted = if self.counting { total } else { 0 };
        self.value = u64::from(value as u8).wrapping_sub(counted);
    }

    fn set_counting(&mut self, counting: bool, total: u64) {
        if counting == self.counting {
            return;
        }
        let stopped_at = self.read(total);
        self.counting = counting;
        self.write(if counting { 0 } else { stopped_at }, total);
    }
}
