//! What a debugger does to the core, and what makes the core halt or call the monitor (C1).

use super::Core;
use crate::access::Access;
use crate::bus::{Bus, Width};
use crate::data_path::{read_either_alias, with_bit};
use crate::debug::{Debug, DebugFault, DHCSR};
use crate::halt_cause::{Cause, DFSR_BKPT};
use crate::memory_map::{bit_band, is_private, TRACE_UNITS};
use crate::nvic::DEBUG_MONITOR;
use crate::scb::HFSR_DEBUGEVT;
use crate::state::{PrivateUnits, Sleep};
use crate::stop::Stop;
use crate::trap::{cfsr, Trap};
/// The PC of a core that has locked up (B1.5.15).
const LOCKUP_PC: u32 = 0xFFFF_FFFE;

impl Core {
    /// Whether the core executes nothing: a debugger has halted it, or it has locked up and no
    /// debugger has looked yet.
    pub fn held(&self) -> bool {
        self.private.debug.held()
    }

    /// What a debugger has set.
    pub fn debug(&self) -> &Debug {
        &self.private.debug
    }

    /// The debug units without what a debugger has set: the power was gone.
    pub fn power_down_debug(&mut self) {
        self.private.debug = Debug::default();
        self.private.scb.demcr = 0;
        self.private.scb.dfsr = 0;
        self.heed_debugger();
        self.invalidate_code();
    }

    /// As if the debugger had cleared DHCSR.C_DEBUGEN and gone. Nothing holds the core any more.
    pub fn detach_debugger(&mut self) {
        self.private.debug.detach();
        self.heed_debugger();
    }

    /// With a debugger, a core that locks up stays locked up until it is halted or reset (B1.5.15).
    pub fn lock_up(&mut self) {
        self.private.debug.lock_up();
        self.registers.pc = LOCKUP_PC;
        self.leave_fast_loop();
    }

    /// The next instruction is the one at `address`, whatever the program wants.
    pub fn go_astray(&mut self, address: u32) {
        self.registers.pc = address;
        self.registers.itstate = 0;
        self.leave_fast_loop();
    }

    /// Halts after a step.
    pub(super) fn end_step<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        let debug = &mut self.private.debug;
        if debug.stepping() {
            debug.request(Cause::Request);
        }
        if debug.halt_requested() {
            // The core halts between instructions: what has begun is finished.
            self.finish_while(bus, |core| core.handling.sequence_begun())?;
            self.halt_if_requested();
        }
        Ok(())
    }

    /// Halts if that was requested; true then.
    pub(super) fn halt_if_requested(&mut self) -> bool {
        let Some(cause) = self.private.debug.halt() else {
            return false;
        };
        self.handling.sleep = Sleep::Awake;
        self.private.scb.dfsr |= cause.dfsr();
        self.leave_fast_loop();
        true
    }

    /// A BKPT that neither a debugger nor the monitor takes becomes a HardFault (C1.4).
    pub fn fault_at_breakpoint(&mut self) -> Result<(), Stop> {
        self.private.scb.dfsr |= DFSR_BKPT;
        self.escalate(HFSR_DEBUGEVT, "a BKPT without a debugger")?;
        self.leave_fast_loop();
        Ok(())
    }

    /// An instruction that no row of the decode tables describes is UNDEFINED (A5.1): a UsageFault.
    pub fn fault_at_undefined(&mut self) -> Result<(), Stop> {
        self.take_trap(Trap::usage(cfsr::UNDEFINSTR))?;
        self.leave_fast_loop();
        Ok(())
    }

    /// If the access touches watched data, the core halts or calls the monitor after the
    /// instruction. At the monitor's priority or above, watchpoints are ignored (C1.4).
    pub(super) fn check_watchpoints(&mut self, address: u32, width: Width, access: Access) {
        let debug = &mut self.private.debug;
        if !debug.watches(address, width, access) {
            return;
        }
        if debug.enabled() {
            debug.request(Cause::Watchpoint);
            self.leave_fast_loop();
        } else if self.nvic.would_preempt(DEBUG_MONITOR) {
            self.private.scb.dfsr |= Cause::Watchpoint.dfsr();
            self.pend(DEBUG_MONITOR);
        }
    }

    /// Call after each change of DHCSR and DEMCR.
    pub(super) fn heed_debugger(&mut self) {
        let PrivateUnits { debug, scb, .. } = &self.private;
        self.nvic.hold_back(debug.holds_back());
        self.nvic
            .set_enabled(DEBUG_MONITOR, debug.monitor_enabled(scb));
        self.update_guard();
        self.leave_fast_loop();
    }

    /// A debugger's read. It takes no time.
    pub fn debug_read<B: Bus>(
        &mut self,
        bus: &mut B,
        address: u32,
        width: Width,
    ) -> Result<u32, DebugFault> {
        // Boards take no fault there: OpenOCD looks for the identity of an STM32L4 before that of an
        // STM32G0, through a probe that would go on refusing.
        if !self.model.facts().mainline && TRACE_UNITS.contains(&address) {
            return Ok(0);
        }
        if address & !3 == DHCSR {
            let (instructions, asleep) = (self.pipeline.instructions(), self.asleep());
            let status = self.private.debug.read_dhcsr(instructions, asleep);
            return Ok(width.lane(status, address));
        }
        let now = self.pipeline.cycles();
        if is_private(address) {
            let read = self.read_private(address, width, now);
            return read.map_err(|trap| DebugFault::from_trap(trap, address));
        }
        let loaded = read_either_alias(bus, address, width, now)?;
        Ok(loaded.value)
    }

    /// A debugger's write. It takes no time.
    pub fn debug_write<B: Bus>(
        &mut self,
        bus: &mut B,
        address: u32,
        width: Width,
        value: u32,
    ) -> Result<(), DebugFault> {
        if address == DHCSR && width == Width::Word {
            let halts = self.private.debug.write_dhcsr(value);
            self.heed_debugger();
            if halts {
                self.finish_while(bus, |core| core.handling.sequence_begun())
                    .map_err(DebugFault::Stop)?;
                self.private.debug.request(Cause::Request);
                self.halt_if_requested();
            }
            return Ok(());
        }
        let now = self.pipeline.cycles();
        if is_private(address) {
            let written = self.write_private(address, width, value, now);
            return written.map_err(|trap| DebugFault::from_trap(trap, address));
        }
        let (address, width, value) = match bit_band(address) {
            Some((word, bit)) => {
                let old = bus.read(word, Width::Word, now)?.value;
                (word, Width::Word, with_bit(old, bit, value))
            }
            None => (address, width, value),
        };
        self.forget_code(address, width.bytes());
        let written = bus.write(address, width, value, now);
        self.pipeline.configure(bus.flash_access_control());
        written.map(|_| ()).map_err(DebugFault::from)
    }
}
