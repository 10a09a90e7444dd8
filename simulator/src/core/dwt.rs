//! The Data Watchpoint and Trace unit's cycle counter (C1.8), gated by DEMCR.TRCENA and DWT_CTRL.CYCCNTENA.

use serde::{Deserialize, Serialize};

pub const CYCCNTENA: u32 = 1 << 0;
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
