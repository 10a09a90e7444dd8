//! Halting debug (C1): what a debugger does to the core through its registers, and what makes the
//! core halt.

mod breakpoints;
pub mod identity;
mod watchpoints;

use crate::access::Access;
use crate::bus::{Fault, Width};
use crate::halt_cause::Cause;
use crate::memory_map::{DWT_COMPARATORS, FPB};
use crate::model::Facts;
use crate::nvic::{Nvic, BUS_FAULT, DEBUG_MONITOR, HARD_FAULT, MEM_MANAGE, USAGE_FAULT};
use crate::registers::{Registers, CONTROL_FPCA, CONTROL_NPRIV};
use crate::scb::Scb;
use crate::stop::Stop;
use crate::timing::Pipeline;
use crate::trap::{cfsr, Fault as CoreFault, Trap};
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

    pub fn stepping(&self) -> bool {
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
    pub fn holds_back(&self) -> bool {
        self.enabled() && self.controls & C_MASKINTS != 0
    }

    /// Halts if that was requested; then the reason.
    pub fn halt(&mut self) -> Option<Cause> {
        let cause = self.requested.take()?;
        self.halted = true;
        self.locked_up = false;
        self.controls |= C_HALT;
        Some(cause)
    }

    pub fn lock_up(&mut self) {
        self.locked_up = true;
    }

    /// DHCSR as a debugger writes it. Whether the core must halt now.
    pub fn write_dhcsr(&mut self, value: u32) -> bool {
        if value >> 16 != DHCSR_KEY {
            return false;
        }
        let enabled = value & C_DEBUGEN != 0;
        self.controls = if enabled { value & CONTROLS } else { 0 };
        let halts = self.controls & C_HALT != 0;
        self.halted &= halts;
        halts && !self.halted
    }

    /// As if the debugger had cleared C_DEBUGEN and gone.
    pub fn detach(&mut self) {
        self.controls = 0;
        self.halted = false;
        self.requested = None;
        self.locked_up = false;
    }

    /// The state after a reset. `instructions` have been executed. The core halts again if the debugger
    /// catches resets.
    pub fn reset(&mut self, instructions: u64, scb: &Scb) {
        self.controls &= !(C_HALT | C_STEP);
        self.halted = false;
        self.locked_up = false;
        self.requested = None;
        self.reset_seen = true;
        self.retired_at_read = instructions;
        if self.enabled() && scb.demcr & VC_CORERESET != 0 {
            self.request(Cause::VectorCatch);
        }
    }

    /// Whether the monitor is called after the next instruction. Code of the monitor's priority or
    /// above is not stepped (C1.5.5).
    pub fn monitor_steps(scb: &Scb, nvic: &Nvic) -> bool {
        scb.demcr & MON_STEP != 0 && nvic.would_preempt(DEBUG_MONITOR)
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
    /// monitor. With neither, the caller of the core decides: [`Core::fault_at_breakpoint`](crate::Core::fault_at_breakpoint)
    /// is what the chip does.
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
    pub fn read_dhcsr(&mut self, instructions: u64, asleep: bool) -> u32 {
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

    /// DCRSR (C1.6.3): copies a register to or from DCRDR. The core must be halted.
    pub fn transfer(
        &mut self,
        selection: u32,
        registers: &mut Registers,
        nvic: &mut Nvic,
        pipeline: &mut Pipeline,
        facts: &Facts,
    ) {
        if !self.halted {
            return;
        }
        let register = selection & 0x7F;
        if selection & DCRSR_WRITE == 0 {
            self.transfer = selected(register, registers, nvic);
            return;
        }
        let value = self.transfer;
        match register {
            0..=15 => {
                registers.set_general(register as usize, value);
                if register == 15 {
                    pipeline.moved(registers.pc);
                }
            }
            // Only exception entry and return change the exception number.
            16 => registers.set_xpsr(value & !0x1FF | u32::from(registers.ipsr), facts),
            17 | 18 => registers.set_stack(register == 18, value),
            20 => {
                nvic.set_primask(value & 1 != 0);
                nvic.set_basepri((value >> 8) as u8);
                nvic.set_faultmask(value >> 16 & 1 != 0);
                registers.set_control((value >> 24) as u8, CONTROL_NPRIV | CONTROL_FPCA);
            }
            33 => registers.float.set_fpscr(value),
            64..=95 => registers.float.s[register as usize - 64] = value,
            _ => {}
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

/// The register that DCRSR selects.
fn selected(register: u32, registers: &Registers, nvic: &Nvic) -> u32 {
    match register {
        15 => registers.pc,
        0..=14 => registers.general[register as usize],
        16 => registers.xpsr(),
        17 => registers.msp(),
        18 => registers.psp(),
        20 => {
            u32::from(registers.control) << 24
                | u32::from(nvic.faultmask()) << 16
                | u32::from(nvic.basepri()) << 8
                | u32::from(nvic.primask())
        }
        33 => registers.float.fpscr,
        64..=95 => registers.float.s[register as usize - 64],
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
    pub fn from_trap(trap: Trap, address: u32) -> DebugFault {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CoreKind, Model, Timing};

    const KEY: u32 = DHCSR_KEY << 16;

    #[test]
    fn only_the_key_and_c_debugen_let_the_core_halt() {
        let mut debug = Debug::default();
        assert!(!debug.write_dhcsr(C_DEBUGEN | C_HALT) && !debug.enabled());
        assert!(!debug.write_dhcsr(KEY | C_HALT));
        assert!(debug.write_dhcsr(KEY | C_DEBUGEN | C_HALT));
        debug.request(Cause::Request);
        assert_eq!((debug.halt(), debug.held()), (Some(Cause::Request), true));
        debug.write_dhcsr(KEY | C_DEBUGEN);
        assert!(!debug.held() && debug.enabled());
    }

    #[test]
    fn dcrsr_transfers_only_while_the_core_is_halted() {
        let model = Model::default();
        let (mut registers, mut nvic) = (Registers::new(), Nvic::new(0xF0));
        let mut pipeline = Pipeline::new(model, Timing::Ideal);
        let mut debug = Debug::default();
        let mut transfer = |debug: &mut Debug, selection| {
            let facts = CoreKind::M4.facts();
            debug.transfer(selection, &mut registers, &mut nvic, &mut pipeline, facts);
            (registers.general[3], nvic.primask())
        };
        debug.write(DCRDR, 1).unwrap();
        assert_eq!(transfer(&mut debug, DCRSR_WRITE | 3), (0, false));
        debug.halted = true;
        assert_eq!(transfer(&mut debug, DCRSR_WRITE | 3), (1, false));
        assert_eq!(transfer(&mut debug, DCRSR_WRITE | 20), (1, true));
        debug.write(DCRDR, 0).unwrap();
        transfer(&mut debug, 3);
        assert_eq!(debug.read(DCRDR, 0), Some(1));
    }
}
