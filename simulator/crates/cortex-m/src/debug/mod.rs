//! Halting debug (C1): what a debugger does to the core through its registers, and what makes the
//! core halt.

mod breakpoints;
pub(super) mod identity;
mod monitor;
mod watchpoints;

pub use monitor::CONTROLS as MONITOR_CONTROLS;

use super::access::Access;
use super::data_access::{read_either_alias, with_bit};
use super::exceptions::{BUS_FAULT, DEBUG_MONITOR, HARD_FAULT, MEM_MANAGE, USAGE_FAULT};
use super::halt_cause::{Cause, DFSR_BKPT};
use super::memory_map::{bit_band, is_private, DWT_COMPARATORS, FPB, TRACE_UNITS};
use super::registers::{CONTROL_FPCA, CONTROL_NPRIV, CONTROL_SPSEL};
use super::stop::{RunEnd, Stop};
use super::trap::{cfsr, Exec, Fault as CoreFault, Trap};
use super::{Core, Sleep};
use crate::bus::{Bus, Fault, Width};
use breakpoints::Breakpoints;
use serde::{Deserialize, Serialize};
use watchpoints::Watchpoints;

pub const DHCSR: u32 = 0xE000_EDF0;
const DCRSR: u32 = 0xE000_EDF4;
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

    fn request(&mut self, cause: Cause) {
        self.requested.get_or_insert(cause);
    }
}

impl Core {
    /// Whether the core executes nothing: a debugger has halted it, or it has locked up and no
    /// debugger has looked yet.
    pub fn held(&self) -> bool {
        self.private.debug.halted || self.private.debug.locked_up
    }

    pub fn halted(&self) -> bool {
        self.private.debug.halted
    }

    /// A debugger has enabled halting (DHCSR.C_DEBUGEN).
    pub fn debugged(&self) -> bool {
        self.private.debug.enabled()
    }

    /// The debug units without what a debugger has set: the power was gone.
    pub fn power_down_debug(&mut self) {
        self.detach_debugger();
        self.private.debug = Debug::default();
        self.private.scb.demcr = 0;
        self.private.scb.dfsr = 0;
        self.update_guard();
        self.invalidate_code();
    }

    /// As if the debugger had cleared DHCSR.C_DEBUGEN and gone. Nothing holds the core any more.
    pub fn detach_debugger(&mut self) {
        self.private.debug.controls = 0;
        self.private.debug.halted = false;
        self.private.debug.requested = None;
        self.private.debug.locked_up = false;
        self.update_interrupt_mask();
        self.update_monitor();
        self.leave_fast_loop();
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

    /// `Core::run` for a core that is halted, locked up or stepping: nothing, or one step.
    pub(super) fn run_held<B: Bus>(&mut self, bus: &mut B) -> Result<RunEnd, Stop> {
        self.step(bus)?;
        Ok(RunEnd::Held)
    }

    /// Halts after a step.
    pub(super) fn end_step<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        if self.private.debug.stepping() {
            self.private.debug.request(Cause::Request);
        }
        if self.private.debug.halt_requested() {
            self.finish_begun_sequence(bus)?;
            self.halt_if_requested();
        }
        Ok(())
    }

    /// Halts if that was requested; true then.
    pub(super) fn halt_if_requested(&mut self) -> bool {
        let Some(cause) = self.private.debug.requested.take() else {
            return false;
        };
        self.private.debug.halted = true;
        self.private.debug.locked_up = false;
        self.private.debug.controls |= C_HALT;
        self.handling.sleep = Sleep::Awake;
        self.private.scb.dfsr |= cause.dfsr();
        self.leave_fast_loop();
        true
    }

    pub(super) fn request_halt(&mut self, cause: Cause) {
        self.private.debug.request(cause);
        self.leave_fast_loop();
    }

    /// The core halts between instructions. An exception's entry or return that has begun is
    /// finished.
    fn finish_begun_sequence<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        while self.sequence_begun() {
            self.advance_sequence(bus, u64::MAX)?;
            self.sync_systick(self.time.cycles);
        }
        Ok(())
    }

    /// What BKPT and a comparator of the FPB do: halt if halting is enabled, otherwise call the
    /// monitor. With neither, the caller of the core decides: [`Core::fault_at_breakpoint`] is what
    /// the chip does.
    pub(super) fn breakpoint(&self, immediate: u8) -> Trap {
        if self.private.debug.enabled() {
            return Trap::Halt(Cause::Breakpoint);
        }
        if self.monitor_enabled() {
            return Trap::Fault(CoreFault {
                exception: DEBUG_MONITOR,
                cfsr: 0,
                address: None,
            });
        }
        Trap::Stop(Box::new(Stop::Breakpoint {
            pc: self.registers.pc,
            immediate,
        }))
    }

    /// A BKPT that neither a debugger nor the monitor takes becomes a HardFault (C1.4).
    pub fn fault_at_breakpoint(&mut self) -> Result<(), Stop> {
        self.private.scb.dfsr |= DFSR_BKPT;
        self.escalate_debug_event("a BKPT without a debugger")?;
        self.leave_fast_loop();
        Ok(())
    }

    /// An instruction that no row of the decode tables describes is UNDEFINED (A5.1): a UsageFault.
    pub fn fault_at_undefined(&mut self) -> Result<(), Stop> {
        self.take_trap(Trap::usage(cfsr::UNDEFINSTR))?;
        self.leave_fast_loop();
        Ok(())
    }

    /// Whether [`Core::check_watchpoints`] must see data accesses.
    pub(super) fn has_data_watchpoints(&self) -> bool {
        (self.private.debug.enabled() || self.monitor_enabled())
            && self.private.debug.watchpoints.any()
    }

    /// If the access touches watched data, the core halts or calls the monitor after the
    /// instruction.
    pub(super) fn check_watchpoints(&mut self, address: u32, width: Width, access: Access) {
        if !self.private.debug.watchpoints.note(address, width, access) {
            return;
        }
        if self.private.debug.enabled() {
            self.request_halt(Cause::Watchpoint);
        } else {
            self.watchpoint_to_monitor();
        }
    }

    /// Vector catch (C1.6.5): halts before the first instruction of a fault's handler.
    pub(super) fn catch_vector(&mut self, exception: u8) {
        let catches = match exception {
            HARD_FAULT => VC_HARDERR,
            MEM_MANAGE => VC_MMERR,
            BUS_FAULT if self.private.scb.cfsr & (cfsr::STKERR | cfsr::UNSTKERR) != 0 => {
                VC_INTERR | VC_BUSERR
            }
            BUS_FAULT => VC_BUSERR,
            USAGE_FAULT if self.private.scb.cfsr & cfsr::NOCP != 0 => VC_NOCPERR,
            USAGE_FAULT if self.private.scb.cfsr & (cfsr::UNALIGNED | cfsr::DIVBYZERO) != 0 => {
                VC_CHKERR
            }
            USAGE_FAULT => VC_STATERR,
            _ => 0,
        };
        if self.private.debug.enabled() && self.private.scb.demcr & catches != 0 {
            self.request_halt(Cause::VectorCatch);
        }
    }

    /// The debug state of a core that was just reset. It halts again if the debugger catches
    /// resets.
    pub(super) fn carry_debug_over(&mut self, mut debug: Debug) {
        debug.controls &= !(C_HALT | C_STEP);
        debug.halted = false;
        debug.locked_up = false;
        debug.requested = None;
        debug.reset_seen = true;
        debug.retired_at_read = self.time.instructions;
        self.private.debug = debug;
        self.update_interrupt_mask();
        self.update_monitor();
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
        if is_private(address) {
            return self
                .debug_read_private(address, width)
                .map_err(|trap| DebugFault::from_trap(trap, address));
        }
        let loaded = read_either_alias(bus, address, width, self.time.cycles)?;
        Ok(loaded.value)
    }

    fn debug_read_private(&mut self, address: u32, width: Width) -> Exec<u32> {
        if address & !3 == DHCSR {
            let status = self.read_dhcsr();
            return Ok(super::private_bus::lane(status, address, width));
        }
        self.read_private(address, width, self.time.cycles)
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
        if is_private(address) {
            return self
                .write_private(address, width, value, self.time.cycles)
                .map_err(|trap| DebugFault::from_trap(trap, address));
        }
        let (address, width, value) = match bit_band(address) {
            Some((word, bit)) => {
                let old = bus.read(word, Width::Word, self.time.cycles)?.value;
                (word, Width::Word, with_bit(old, bit, value))
            }
            None => (address, width, value),
        };
        self.forget_code(address, width.bytes());
        let written = bus.write(address, width, value, self.time.cycles);
        self.time.fetch.configure(bus.flash_access_control());
        written.map(|_| ()).map_err(DebugFault::from)
    }

    /// DHCSR as a debugger reads it. S_RESET_ST and S_RETIRE_ST tell what happened since the last
    /// read.
    fn read_dhcsr(&mut self) -> u32 {
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        let retired = self.time.instructions != self.private.debug.retired_at_read;
        self.private.debug.retired_at_read = self.time.instructions;
        self.private.debug.controls
            | S_REGRDY
            | flag(self.private.debug.halted, S_HALT)
            | flag(!self.private.debug.halted && self.asleep(), S_SLEEP)
            | flag(self.private.debug.locked_up, S_LOCKUP)
            | flag(retired, S_RETIRE_ST)
            | flag(
                std::mem::take(&mut self.private.debug.reset_seen),
                S_RESET_ST,
            )
    }

    fn write_dhcsr<B: Bus>(&mut self, bus: &mut B, value: u32) -> Result<(), Stop> {
        if value >> 16 != DHCSR_KEY {
            return Ok(());
        }
        let enabled = value & C_DEBUGEN != 0;
        self.private.debug.controls = if enabled { value & CONTROLS } else { 0 };
        self.update_interrupt_mask();
        self.update_monitor();
        if self.private.debug.controls & C_HALT == 0 {
            self.private.debug.halted = false;
        } else if !self.private.debug.halted {
            self.finish_begun_sequence(bus)?;
            self.private.debug.request(Cause::Request);
            self.halt_if_requested();
        }
        self.leave_fast_loop();
        Ok(())
    }

    fn update_interrupt_mask(&mut self) {
        let held_back =
            self.private.debug.enabled() && self.private.debug.controls & C_MASKINTS != 0;
        self.exceptions.hold_back(held_back);
    }

    /// A register of the debug units on the private bus. `None` if there is no such register.
    pub(super) fn read_debug_unit(&mut self, address: u32) -> Option<u32> {
        match address {
            // Software reads only the control bits of DHCSR (C1.6.2).
            DHCSR => Some(self.private.debug.controls),
            DCRSR => Some(0), // write-only
            DCRDR => Some(self.private.debug.transfer),
            // No sample is taken while the core is halted (C1.8.16).
            DWT_PCSR if self.private.debug.halted => Some(0xFFFF_FFFF),
            DWT_PCSR => Some(self.registers.pc),
            _ if DWT_COMPARATORS.contains(&address) => self
                .private
                .debug
                .watchpoints
                .read(address - DWT_COMPARATORS.start()),
            _ if FPB.contains(&address) => {
                self.private.debug.breakpoints.read(address - FPB.start())
            }
            _ => identity::read(address),
        }
    }

    pub(super) fn write_debug_unit(&mut self, address: u32, value: u32) -> Option<()> {
        match address {
            // Only a debugger sets C_DEBUGEN, and without it the other bits have no effect
            // (C1.6.2).
            DHCSR => Some(()),
            DCRSR => {
                self.transfer_register(value);
                Some(())
            }
            DCRDR => {
                self.private.debug.transfer = value;
                Some(())
            }
            _ if DWT_COMPARATORS.contains(&address) => {
                let offset = address - DWT_COMPARATORS.start();
                let written = self.private.debug.watchpoints.write(offset, value);
                self.update_guard();
                written
            }
            _ if FPB.contains(&address) => {
                let written = self
                    .private
                    .debug
                    .breakpoints
                    .write(address - FPB.start(), value);
                self.invalidate_code();
                written
            }
            _ => None,
        }
    }

    /// DCRSR (C1.6.3): copies a register to or from DCRDR. The core must be halted.
    fn transfer_register(&mut self, selection: u32) {
        if !self.private.debug.halted {
            return;
        }
        let register = selection & 0x7F;
        if selection & DCRSR_WRITE == 0 {
            self.private.debug.transfer = self.selected_register(register);
        } else {
            self.select_and_write(register, self.private.debug.transfer);
        }
    }

    fn selected_register(&self, register: u32) -> u32 {
        match register {
            0..=15 => self.register(register as usize),
            16 => self.xpsr(),
            17 => self.msp(),
            18 => self.psp(),
            20 => {
                self.control() << 24
                    | u32::from(self.faultmask()) << 16
                    | u32::from(self.basepri()) << 8
                    | u32::from(self.primask())
            }
            33 => self.fpscr(),
            64..=95 => self.float_register(register as usize - 64),
            _ => 0,
        }
    }

    fn select_and_write(&mut self, register: u32, value: u32) {
        match register {
            0..=15 => self.set_register(register as usize, value),
            // Only exception entry and return change the exception number.
            16 => self.set_xpsr(value & !0x1FF | u32::from(self.registers.ipsr)),
            17 => self.set_msp(value),
            18 => self.set_psp(value),
            20 => self.write_special_registers(value),
            33 => self.set_fpscr(value),
            64..=95 => self.set_float_register(register as usize - 64, value),
            _ => {}
        }
        self.leave_fast_loop();
    }

    fn write_special_registers(&mut self, value: u32) {
        self.exceptions.set_primask(value & 1 != 0);
        self.exceptions.set_basepri((value >> 8) as u8);
        self.exceptions.set_faultmask(value >> 16 & 1 != 0);
        let control = (value >> 24) as u8;
        let plain = CONTROL_NPRIV | CONTROL_FPCA;
        self.registers.control = self.registers.control & !plain | control & plain;
        if self.registers.ipsr == 0 {
            self.set_mode(0, control & CONTROL_SPSEL != 0);
        }
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
