//! Hints, barriers, special registers (B5.2), and instructions that raise exceptions.

use crate::core::Core;
use crate::decode::{Op, System};
use crate::nvic::SVCALL;
use crate::registers::{CONTROL_FPCA, CONTROL_NPRIV};
use crate::state::{PrivateUnits, Sleep};
use crate::timing::Resolved;
use crate::trap::{cfsr, Exec, Fault, Trap};

/// The option field of ISB (A7.7.37).
const ISB: u32 = 6;
/// SYSm (table B5-1).
const BASEPRI: u32 = 17;

impl Core {
    pub(super) fn system(&mut self, op: &Op, system: System) -> Exec<()> {
        if system != System::Hint {
            self.fast.busy_wait.disturb();
        }
        match system {
            System::Hint => self.pipeline.absorb_nop(op),
            // DMB and DSB wait for the write buffer. ISB waits for a refill (TRM table 3-1, B).
            System::Barrier => {
                self.pipeline.drain();
                if op.imm == ISB && self.pipeline.timing().is_nucleo() {
                    self.jump(self.registers.next_pc, Resolved::End, op.cycles);
                }
            }
            System::Wfi => self.sleep_until(Sleep::UntilInterrupt),
            System::Wfe => {
                self.observers.planned.notice();
                if !std::mem::take(&mut self.handling.event) {
                    self.sleep_until(Sleep::UntilEvent);
                }
            }
            System::Sev => self.handling.event = true,
            System::Clrex => self.registers.exclusive = false,
            System::Cps => self.change_masks(op.imm),
            System::Mrs => self.registers.set(op.d, self.read_special(op.imm)?),
            // Kernels mask and unmask by BASEPRI, so it has a path of its own.
            System::Msr if op.imm == BASEPRI => {
                if self.registers.privileged() {
                    self.nvic.set_basepri(self.registers.get(op.n) as u8);
                    self.masks_changed();
                }
            }
            System::Msr => return self.write_special(op, self.registers.get(op.n)),
            // It is taken before the next instruction. If it is masked, it becomes a HardFault.
            System::Svc if self.nvic.would_preempt(SVCALL) => self.pend(SVCALL),
            System::Svc => {
                return Err(Trap::Fault(Fault {
                    exception: SVCALL,
                    cfsr: 0,
                    address: None,
                }));
            }
            System::Breakpoint => {
                let PrivateUnits { debug, scb, .. } = &self.private;
                return Err(debug.breakpoint(scb, self.registers.pc, op.imm as u8));
            }
            System::AbsentCoprocessor => return Err(Trap::usage(cfsr::NOCP)),
            System::PermanentlyUndefined => return Err(Trap::usage(cfsr::UNDEFINSTR)),
        }
        Ok(())
    }

    fn sleep_until(&mut self, sleep: Sleep) {
        self.handling.sleep = sleep;
        self.observers.planned.notice();
        self.leave_fast_loop();
    }

    /// CPS. It cannot set FAULTMASK at HardFault priority or above. Unprivileged code changes
    /// nothing.
    fn change_masks(&mut self, imm: u32) {
        if !self.registers.privileged() {
            return;
        }
        let disable = imm & 0x10 != 0;
        if imm & 2 != 0 {
            self.nvic.set_primask(disable);
        }
        if imm & 1 != 0 {
            self.nvic.change_faultmask(disable);
        }
        self.masks_changed();
    }

    /// Special registers by SYSm (table B5-1). Unprivileged code reads 0 for those of the system.
    #[inline(never)]
    fn read_special(&self, register: u32) -> Exec<u32> {
        let registers = &self.registers;
        let privileged = registers.privileged();
        let if_of = |of: bool, value: u32| if of { value } else { 0 };
        Ok(match register {
            0..=7 => {
                if_of(register & 4 == 0, registers.flags.bits())
                    | if_of(register & 1 != 0 && privileged, registers.ipsr.into())
            }
            20 => registers.control.into(),
            8..=19 if !privileged => 0,
            8 => registers.msp(),
            9 => registers.psp(),
            16 => self.nvic.primask().into(),
            BASEPRI | 18 => self.nvic.basepri().into(),
            19 => self.nvic.faultmask().into(),
            _ => {
                return Err(Trap::unmodelled(
                    "a special register read by MRS, numbered by the address,",
                    register,
                    registers.pc,
                ))
            }
        })
    }

    #[inline(never)]
    fn write_special(&mut self, op: &Op, value: u32) -> Exec<()> {
        let facts = self.model.facts();
        match op.imm {
            0..=3 => {
                let parts = (op.amount & 2 != 0, op.amount & 1 != 0);
                self.registers.set_apsr(value, parts, facts);
            }
            // IPSR and EPSR ignore writes.
            5..=7 => {}
            8..=20 if !self.registers.privileged() => {}
            8 | 9 => self.registers.set_stack(op.imm == 9, value),
            16 => self.nvic.set_primask(value & 1 != 0),
            18 => self.nvic.raise_basepri(value as u8),
            19 => self.nvic.change_faultmask(value & 1 != 0),
            20 => {
                let privilege = if facts.unprivileged { CONTROL_NPRIV } else { 0 };
                let plain = privilege | if facts.float { CONTROL_FPCA } else { 0 };
                self.registers.set_control(value as u8, plain);
            }
            register => {
                return Err(Trap::unmodelled(
                    "a special register written by MSR, numbered by the address,",
                    register,
                    self.registers.pc,
                ))
            }
        }
        self.masks_changed();
        Ok(())
    }

    /// Masks or mode have changed, so an exception may now be taken.
    fn masks_changed(&mut self) {
        self.observers.raised.note(&self.nvic, self.registers.pc);
        if self.nvic.preempting().is_some() || self.supervised() || self.observers.watch.is_some() {
            self.leave_fast_loop();
        }
    }
}
