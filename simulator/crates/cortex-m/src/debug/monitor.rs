//! The debug monitor (C1.5): an exception of configurable priority that takes debug events when no
//! debugger halts the core.

use crate::exceptions::DEBUG_MONITOR;
use crate::halt_cause::{Cause, DFSR_BKPT, DFSR_HALTED};
use crate::{Core, Stop};

/// DEMCR (C1.6.5).
const MON_EN: u32 = 1 << 16;
const MON_PEND: u32 = 1 << 17;
const MON_STEP: u32 = 1 << 18;
const MON_REQ: u32 = 1 << 19;
/// Every reset of the core clears these (Cortex-M3 TRM, ARM DDI 0337, 10.2.4).
pub const CONTROLS: u32 = MON_EN | MON_PEND | MON_STEP | MON_REQ;

impl Core {
    /// MON_PEND, as DEMCR shows it.
    pub(crate) fn monitor_pended(&self) -> u32 {
        if self.exceptions.is_pending(DEBUG_MONITOR) {
            MON_PEND
        } else {
            0
        }
    }

    /// Takes DEMCR's bits: MON_PEND sets and clears the exception's pending state.
    pub(crate) fn set_monitor(&mut self, demcr: u32) {
        if demcr & MON_PEND != 0 {
            self.pend(DEBUG_MONITOR);
        } else {
            self.exceptions.unpend(DEBUG_MONITOR);
        }
        self.update_monitor();
    }

    /// The monitor works if it is enabled and halting is not (C1.4).
    pub(crate) fn monitor_enabled(&self) -> bool {
        self.private.scb.demcr & MON_EN != 0 && !self.private.debug.enabled()
    }

    pub(crate) fn update_monitor(&mut self) {
        let enabled = self.monitor_enabled();
        self.exceptions.set_enabled(DEBUG_MONITOR, enabled);
        self.update_guard();
    }

    /// BKPT and the comparators of the FPB. At the monitor's priority or above they become a
    /// HardFault (C1.4, B1.5.4).
    pub(crate) fn breakpoint_to_monitor(&mut self) -> Result<(), Stop> {
        self.private.scb.dfsr |= DFSR_BKPT;
        if self.exceptions.would_preempt(DEBUG_MONITOR) {
            self.pend(DEBUG_MONITOR);
            return Ok(());
        }
        self.escalate_debug_event("a breakpoint")
    }

    /// Watchpoints. At the monitor's priority or above they are ignored (C1.4).
    pub(super) fn watchpoint_to_monitor(&mut self) {
        if self.exceptions.would_preempt(DEBUG_MONITOR) {
            self.private.scb.dfsr |= Cause::Watchpoint.dfsr();
            self.pend(DEBUG_MONITOR);
        }
    }

    /// Whether the monitor is called after the next instruction. Code of the monitor's priority or
    /// above is not stepped (C1.5.5).
    pub(crate) fn monitor_steps(&self) -> bool {
        self.private.scb.demcr & MON_STEP != 0 && self.exceptions.would_preempt(DEBUG_MONITOR)
    }

    pub(crate) fn end_monitor_step(&mut self) {
        self.private.scb.dfsr |= DFSR_HALTED;
        self.pend(DEBUG_MONITOR);
    }
}
