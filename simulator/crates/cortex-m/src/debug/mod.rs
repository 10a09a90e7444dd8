//! Halting debug (C1): what a debugger does to the core through its registers, and what makes the
//! core halt.

mod breakpoints;
pub(super) mod identity;
mod watchpoints;

use super::access::Access;
use super::data_path::{read_either_alias, with_bit};
use super::halt_cause::{Cause, DFSR_BKPT};
use super::memory_map::{bit_band, is_private, DWT_COMPARATORS, FPB, TRACE_UNITS};
use super::nvic::{Nvic, BUS_FAULT, DEBUG_MONITOR, HARD_FAULT, MEM_MANAGE, USAGE_FAULT};
use super::private_bus::lane;
use super::registers::{Registers, CONTROL_FPCA, CONTROL_NPRIV};
use super::scb::{Scb, HFSR_DEBUGEVT};
use super::state::PrivateUnits;
use super::stop::Stop;
use super::trap::{cfsr, Fault as CoreFault, Trap};
use super::{Core, Sleep};
use crate::bus::{Bus, Fault, Width};
use breakpoints::Breakpoints;
use serde::{Deserialize, Serialize};
use watchpoints::Watchpoints;

pub const DHCSR: u32 = 0xE000_EDF0;
pub const DCRSR: u32 = 0xE000_EDF4;
const DCRDR: u32 = 0xE000_EDF8;
const DWT_PCSR: u32 = 0xE000_101C;

/// DHCSR (C1.6.2).
const DHCSR_KEY: u32 = 0xA05F;
const C_DEBUGEN: u32 = 1 << 0;
const C_HALT: u32 = 1 << 1;
const C_STEP: u32 = 1 << 2;
const C_MASKINTS: u32 = 1 << 3;
const C_SNAPSTALL: u32 = 1 << 5;
const CONTROLS: u32 = C_DEBUGEN | C_HALT | C_STEP | C_MASKINTS | C_SNAPSTALL;
const S_REGRDY: u32 = 1 << 16;
const S_HALT: u32 = 1 << 17;
const S_SLEEP: u32 = 1 << 18;
const S_LOCKUP: u32 = 1 << 19;
const S_RETIRE_ST: u32 = 1 << 24;
const S_RESET_ST: u32 = 1 << 25;

/// DEMCR's vector catches (C1.6.5).
const VC_CORERESET: u32 = 1 << 0;
const VC_MMERR: u32 = 1 << 4;
const VC_NOCPERR: u32 = 1 << 5;
const VC_CHKERR: u32 = 1 << 6;
const VC_STATERR: u32 = 1 << 7;
const VC_BUSERR: u32 = 1 << 8;
const VC_INTERR: u32 = 1 << 9;
const VC_HARDERR: u32 = 1 << 10;

/// The debug monitor's bits of DEMCR (C1.5, C1.6.5): an exception of configurable priority that takes
/// debug events when no debugger halts the core.
const MON_EN: u32 = 1 << 16;
pub const MON_PEND: u32 = 1 << 17;
const MON_STEP: u32 = 1 << 18;
const MON_REQ: u32 = 1 << 19;
/// Every reset of the core clears these (Cortex-M3 TRM, ARM DDI 0337, 10.2.4).
pub const MONITOR_CONTROLS: u32 = MON_EN | MON_PEND | MON_STEP | MON_REQ;

const DCRSR_WRITE: u32 = 1 << 16;
/// The PC of a core that has locked up (B1.5.15).
const LOCKUP_PC: u32 = 0xFFFF_FFFE;

/// State that only power-up clears, not a system reset (table C1-6).
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Debug {
    /// The C_ bits of DHCSR.
    controls: u32,
    halted: bool,
    /// The core must halt before the next instruction.
    requested: Option<Cause>,
    locked_up: bool,
    /// S_RESET_ST, and the instruction count at the last read of S_RETIRE_ST.
    reset_seen: bool,
    retired_at_read: u64,
    /// DCRDR.
    transfer: u32,
    breakpoints: Breakpoints,
    watchpoints: Watchpoints,
}

impl Debug {
    pub fn enabled(&self) -> bool {
        self.controls & C_DEBUGEN != 0
    }

    fn stepping(&self) -> bool {
        self.enabled() && self.controls & C_STEP != 0
    }

    /// Whether the core is halted, locked up or stepping.
    pub fn holds(&self) -> bool {
        self.halted || self.locked_up || self.stepping()
    }

    pub fn halt_requested(&self) -> bool {
        self.requested.is_some()
    }

    /// Whether the instruction at `address` has a breakpoint.
    pub fn breaks_at(&self, address: u32) -> bool {
        self.breakpoints.matches(address)
    }

    pub fn request(&mut self, cause: Cause) {
        self.requested.get_or_insert(cause);
    }

    /// Whether the core executes nothing.
    pub fn held(&self) -> bool {
        self.halted || self.locked_up
    }

    pub fn halted(&self) -> bool {
        self.halted
    }

    /// C_MASKINTS.
    fn holds_back(&self) -> bool {
        self.enabled() && self.controls & C_MASKINTS != 0
    }

    /// Halts if that was requested; then the reason.
    fn halt(&mut self) -> Option<Cause> {
        let cause = self.requested.take()?;
        self.halted = true;
        self.locked_up = false;
        self.controls |= C_HALT;
        Some(cause)
    }

    /// As if the debugger had cleared C_DEBUGEN and gone.
    fn detach(&mut self) {
        self.controls = 0;
        self.halted = false;
        self.requested = None;
        self.locked_up = false;
    }

    /// The state after a reset. `instructions` have been executed.
    fn reset(&mut self, instructions: u64) {
        self.controls &= !(C_HALT | C_STEP);
        self.halted = false;
        self.locked_up = false;
        self.requested = None;
        self.reset_seen = true;
        self.retired_at_read = instructions;
    }

    /// The monitor works if it is enabled and halting is not (C1.4).
    pub fn monitor_enabled(&self, scb: &Scb) -> bool {
        scb.demcr & MON_EN != 0 && !self.enabled()
    }

    /// Whether data accesses must be seen.
    pub fn watches_data(&self, scb: &Scb) -> bool {
        (self.enabled() || self.monitor_enabled(scb)) && self.watchpoints.any()
    }

    /// Whether the access touches watched data.
    pub fn watches(&mut self, address: u32, width: Width, access: Access) -> bool {
        self.watchpoints.note(address, width, access)
    }

    /// What BKPT and a comparator of the FPB do: halt if halting is enabled, otherwise call the
    /// monitor. With neither, the caller of the core decides: [`Core::fault_at_breakpoint`] is what
    /// the chip does.
    pub fn breakpoint(&self, scb: &Scb, pc: u32, immediate: u8) -> Trap {
        if self.enabled() {
            return Trap::Halt(Cause::Breakpoint);
        }
        if self.monitor_enabled(scb) {
            return Trap::Fault(CoreFault {
                exception: DEBUG_MONITOR,
                cfsr: 0,
                address: None,
            });
        }
        Trap::Stop(Box::new(Stop::Breakpoint { pc, immediate }))
    }

    /// Vector catch (C1.6.5): halts before the first instruction of a fault's handler.
    pub fn catch_vector(&mut self, exception: u8, scb: &Scb) {
        let catches = match exception {
            HARD_FAULT => VC_HARDERR,
            MEM_MANAGE => VC_MMERR,
            BUS_FAULT if scb.cfsr & (cfsr::STKERR | cfsr::UNSTKERR) != 0 => VC_INTERR | VC_BUSERR,
            BUS_FAULT => VC_BUSERR,
            USAGE_FAULT if scb.cfsr & cfsr::NOCP != 0 => VC_NOCPERR,
            USAGE_FAULT if scb.cfsr & (cfsr::UNALIGNED | cfsr::DIVBYZERO) != 0 => VC_CHKERR,
            USAGE_FAULT => VC_STATERR,
            _ => 0,
        };
        if self.enabled() && scb.demcr & catches != 0 {
            self.request(Cause::VectorCatch);
        }
    }

    /// DHCSR as a debugger reads it. S_RESET_ST and S_RETIRE_ST tell what happened since the last
    /// read.
    fn read_dhcsr(&mut self, instructions: u64, asleep: bool) -> u32 {
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        let before = std::mem::replace(&mut self.retired_at_read, instructions);
        let reset = std::mem::take(&mut self.reset_seen);
        self.controls
            | S_REGRDY
            | flag(self.halted, S_HALT)
            | flag(!self.halted && asleep, S_SLEEP)
            | flag(self.locked_up, S_LOCKUP)
            | flag(instructions != before, S_RETIRE_ST)
            | flag(reset, S_RESET_ST)
    }

    /// A register of the debug units on the private bus. `None` if there is no such register. The
    /// program is at `pc`.
    pub fn read(&mut self, address: u32, pc: u32) -> Option<u32> {
        match address {
            // Software reads only the control bits of DHCSR (C1.6.2).
            DHCSR => Some(self.controls),
            DCRSR => Some(0), // write-only
            DCRDR => Some(self.transfer),
            // No sample is taken while the core is halted (C1.8.16).
            DWT_PCSR if self.halted => Some(0xFFFF_FFFF),
            DWT_PCSR => Some(pc),
            _ if DWT_COMPARATORS.contains(&address) => {
                self.watchpoints.read(address - DWT_COMPARATORS.start())
            }
            _ if FPB.contains(&address) => self.breakpoints.read(address - FPB.start()),
            _ => identity::read(address),
        }
    }

    /// All but DCRSR, which reaches the core's registers.
    pub fn write(&mut self, address: u32, value: u32) -> Option<()> {
        match address {
            // Only a debugger sets C_DEBUGEN, and without it the other bits have no effect
            // (C1.6.2).
            DHCSR => Some(()),
            DCRDR => {
                self.transfer = value;
                Some(())
            }
            _ if DWT_COMPARATORS.contains(&address) => {
                let offset = address - DWT_COMPARATORS.start();
                self.watchpoints.write(offset, value)
            }
            _ if FPB.contains(&address) => self.breakpoints.write(address - FPB.start(), value),
            _ => None,
        }
    }
}

impl Core {
    /// Whether the core executes nothing: a debugger has halted it, or it has locked up and no
    /// debugger has looked yet.
    pub fn held(&self) -> bool {
        self.private.debug.held()
    }

    pub fn halted(&self) -> bool {
        self.private.debug.halted()
    }

    /// A debugger has enabled halting (DHCSR.C_DEBUGEN).
    pub fn debugged(&self) -> bool {
        self.private.debug.enabled()
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
        self.private.debug.locked_up = true;
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
            self.finish_while(bus, Core::sequence_begun)?;
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
            self.call_monitor(Cause::Watchpoint.dfsr());
        }
    }

    /// BKPT and the comparators of the FPB. At the monitor's priority or above they become a
    /// HardFault (C1.4, B1.5.4).
    pub(super) fn breakpoint_to_monitor(&mut self) -> Result<(), Stop> {
        if !self.nvic.would_preempt(DEBUG_MONITOR) {
            self.private.scb.dfsr |= DFSR_BKPT;
            return self.escalate(HFSR_DEBUGEVT, "a breakpoint");
        }
        self.call_monitor(DFSR_BKPT);
        Ok(())
    }

    /// Whether the monitor is called after the next instruction. Code of the monitor's priority or
    /// above is not stepped (C1.5.5).
    pub(super) fn monitor_steps(&self) -> bool {
        self.private.scb.demcr & MON_STEP != 0 && self.nvic.would_preempt(DEBUG_MONITOR)
    }

    pub(super) fn call_monitor(&mut self, dfsr: u32) {
        self.private.scb.dfsr |= dfsr;
        self.pend(DEBUG_MONITOR);
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

    /// The debug state of a core that was just reset, from that before. It halts again if the debugger
    /// catches resets.
    pub(super) fn carry_debug_over(&mut self, debug: Debug) {
        self.private.debug = debug;
        self.private.debug.reset(self.pipeline.instructions());
        self.heed_debugger();
        if self.private.debug.enabled() && self.private.scb.demcr & VC_CORERESET != 0 {
            self.private.debug.request(Cause::VectorCatch);
            self.halt_if_requested();
        }
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
            return Ok(lane(status, address, width));
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
            return self.write_dhcsr(bus, value).map_err(DebugFault::Stop);
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

    fn write_dhcsr<B: Bus>(&mut self, bus: &mut B, value: u32) -> Result<(), Stop> {
        if value >> 16 != DHCSR_KEY {
            return Ok(());
        }
        let enabled = value & C_DEBUGEN != 0;
        self.private.debug.controls = if enabled { value & CONTROLS } else { 0 };
        self.heed_debugger();
        if self.private.debug.controls & C_HALT == 0 {
            self.private.debug.halted = false;
        } else if !self.private.debug.halted {
            self.finish_while(bus, Core::sequence_begun)?;
            self.private.debug.request(Cause::Request);
            self.halt_if_requested();
        }
        Ok(())
    }

    /// DCRSR (C1.6.3): copies a register to or from DCRDR. The core must be halted.
    pub(super) fn transfer_register(&mut self, selection: u32) {
        if !self.private.debug.halted {
            return;
        }
        let register = selection & 0x7F;
        if selection & DCRSR_WRITE == 0 {
            self.private.debug.transfer = selected(register, &self.registers, &self.nvic);
        } else {
            self.select_and_write(register, self.private.debug.transfer);
        }
    }

    fn select_and_write(&mut self, register: u32, value: u32) {
        let registers = &mut self.registers;
        match register {
            0..=15 => self.set_register(register as usize, value),
            // Only exception entry and return change the exception number.
            16 => self.set_xpsr(value & !0x1FF | u32::from(self.registers.ipsr)),
            17 | 18 => registers.set_stack(register == 18, value),
            20 => {
                self.nvic.set_primask(value & 1 != 0);
                self.nvic.set_basepri((value >> 8) as u8);
                self.nvic.set_faultmask(value >> 16 & 1 != 0);
                registers.set_control((value >> 24) as u8, CONTROL_NPRIV | CONTROL_FPCA);
            }
            33 => self.set_fpscr(value),
            64..=95 => registers.float.s[register as usize - 64] = value,
            _ => {}
        }
        self.leave_fast_loop();
    }
}

/// The register that DCRSR selects.
fn selected(register: u32, registers: &Registers, nvic: &Nvic) -> u32 {
    match register {
        15 => registers.pc,
        0..=14 => registers.general[register as usize],
        16 => registers.xpsr(),
        17 => registers.msp(),
        18 => registers.psp(),
        20 => {
            registers.control() << 24
                | u32::from(nvic.faultmask()) << 16
                | u32::from(nvic.basepri()) << 8
                | u32::from(nvic.primask())
        }
        33 => registers.fpscr(),
        64..=95 => registers.float_register(register as usize - 64),
        _ => 0,
    }
}

/// MON_PEND, as DEMCR shows it.
pub fn monitor_pended(nvic: &Nvic) -> u32 {
    if nvic.is_pending(DEBUG_MONITOR) {
        MON_PEND
    } else {
        0
    }
}

/// Why a debugger's access did not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DebugFault {
    /// Nothing answers at the address.
    Bus { address: u32 },
    /// The chip would answer, the model does not.
    Unmodelled { what: String, address: u32 },
    /// The access was made, and the machine must act on this.
    Stop(Stop),
}

impl DebugFault {
    fn from_trap(trap: Trap, address: u32) -> DebugFault {
        match trap {
            Trap::Stop(stop) => match *stop {
                Stop::Unmodelled { what, address, .. } => DebugFault::Unmodelled { what, address },
                stop => DebugFault::Stop(stop),
            },
            Trap::Fault(_) | Trap::Halt(_) | Trap::Interrupted => DebugFault::Bus { address },
        }
    }
}

impl From<Fault> for DebugFault {
    fn from(fault: Fault) -> DebugFault {
        match fault {
            Fault::Bus { address } => DebugFault::Bus { address },
            Fault::Unmodelled { what, address } => DebugFault::Unmodelled { what, address },
        }
    }
}
