//! Hints, barriers, special registers (B5.2), and instructions that raise exceptions.

use crate::decode::{Op, System};
use crate::exceptions::SVCALL;
use crate::registers::{CONTROL_FPCA, CONTROL_NPRIV, CONTROL_SPSEL};
use crate::timing::Resolved;
use crate::trap::{cfsr, Exec, Fault, Trap};
use crate::{Core, Sleep};

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
            System::Hint => self.absorb_nop(op),
            System::Barrier => self.barrier(op),
            System::Wfi => self.sleep_until(Sleep::UntilInterrupt),
            System::Wfe => self.wait_for_event(),
            System::Sev => self.handling.event = true,
            System::Clrex => self.registers.exclusive = false,
            System::Cps => self.change_masks(op.imm),
            System::Mrs => return self.move_from_special(op),
            System::Msr if op.imm == BASEPRI => self.write_basepri(self.get(op.n) as u8),
            System::Msr => return self.write_special(op, self.get(op.n)),
            System::Svc => return self.supervisor_call(),
            System::Breakpoint => {
                return Err(self.breakpoint(op.imm as u8));
            }
            System::AbsentCoprocessor => return Err(Trap::usage(cfsr::NOCP)),
            System::PermanentlyUndefined => return Err(Trap::usage(cfsr::UNDEFINSTR)),
        }
        Ok(())
    }

    fn absorb_nop(&mut self, op: &Op) {
        if self.time.model.is_nucleo() && self.time.pairs.absorbs_nop(self.time.instructions - 1) {
            self.overlap(op);
        }
    }

    /// DMB and DSB wait for the write buffer. ISB waits for a refill (TRM table 3-1, B).
    fn barrier(&mut self, op: &Op) {
        if !self.time.model.is_nucleo() {
            return;
        }
        self.time.cycles = self.time.cycles.max(self.time.data_free.saturating_sub(1));
        if op.imm == ISB {
            self.refill(op);
        }
    }

    #[inline(never)]
    fn refill(&mut self, op: &Op) {
        self.jump(self.registers.next_pc, Resolved::End, op.cycles);
    }

    fn sleep_until(&mut self, sleep: Sleep) {
        self.handling.sleep = sleep;
        self.notice_pending();
        self.leave_fast_loop();
    }

    fn wait_for_event(&mut self) {
        self.notice_pending();
        if !std::mem::take(&mut self.handling.event) {
            self.sleep_until(Sleep::UntilEvent);
        }
    }

    /// CPS. It cannot set FAULTMASK at HardFault priority or above. Unprivileged code changes
    /// nothing.
    fn change_masks(&mut self, imm: u32) {
        if !self.privileged() {
            return;
        }
        let disable = imm & 0x10 != 0;
        if imm & 2 != 0 {
            self.exceptions.set_primask(disable);
        }
        if imm & 1 != 0 {
            self.set_faultmask(disable);
        }
        self.masks_changed();
    }

    fn set_faultmask(&mut self, set: bool) {
        if !set || self.exceptions.execution_priority() > -1 {
            self.exceptions.set_faultmask(set);
        }
    }

    #[inline(never)]
    fn move_from_special(&mut self, op: &Op) -> Exec<()> {
        let value = self.read_special(op.imm)?;
        self.set(op.d, value);
        Ok(())
    }

    /// Special registers by SYSm (table B5-1). Unprivileged code reads 0 for those of the system.
    fn read_special(&self, register: u32) -> Exec<u32> {
        let privileged = self.privileged();
        Ok(match register {
            0..=7 => {
                let ipsr = if register & 1 != 0 && privileged {
                    self.registers.ipsr.into()
                } else {
                    0
                };
                let apsr = if register & 4 == 0 {
                    self.registers.flags.bits()
                } else {
                    0
                };
                apsr | ipsr
            }
            20 => self.registers.control.into(),
            8..=19 if !privileged => 0,
            8 => self.msp(),
            9 => self.psp(),
            16 => self.exceptions.primask().into(),
            BASEPRI | 18 => self.exceptions.basepri().into(),
            19 => self.exceptions.faultmask().into(),
            _ => {
                return Err(Trap::unmodelled(
                    "a special register read by MRS, numbered by the address,",
                    register,
                    self.registers.pc,
                ))
            }
        })
    }

    /// BASEPRI: kernels mask and unmask by it, so it has a path of its own.
    #[inline(always)]
    fn write_basepri(&mut self, value: u8) {
        if self.privileged() {
            self.exceptions.set_basepri(value);
            self.masks_changed();
        }
    }

    #[inline(never)]
    fn write_special(&mut self, op: &Op, value: u32) -> Exec<()> {
        match op.imm {
            0..=3 => {
                if op.amount & 2 != 0 {
                    self.registers.flags.set_nzcvq(value);
                }
                if op.amount & 1 != 0 {
                    self.registers.flags.set_ge(value);
                }
                self.drop_absent_flags();
            }
            // IPSR and EPSR ignore writes.
            5..=7 => {}
            8..=20 if !self.privileged() => {}
            8 => self.set_msp(value),
            9 => self.set_psp(value),
            16 => self.exceptions.set_primask(value & 1 != 0),
            18 => self.raise_basepri(value as u8),
            19 => self.set_faultmask(value & 1 != 0),
            20 => self.write_control(value as u8),
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
        self.note_masks();
        if self.exceptions.preempting().is_some() || self.supervised() || self.watched() {
            self.leave_fast_loop();
        }
    }

    /// BASEPRI_MAX can only mask more.
    fn raise_basepri(&mut self, value: u8) {
        let value = value & self.exceptions.priority_mask();
        let current = self.exceptions.basepri();
        if value != 0 && (value < current || current == 0) {
            self.exceptions.set_basepri(value);
        }
    }

    /// SPSEL is writable in Thread mode only.
    fn write_control(&mut self, value: u8) {
        let facts = self.model.facts();
        let privilege = if facts.unprivileged { CONTROL_NPRIV } else { 0 };
        let writable = privilege | if facts.float { CONTROL_FPCA } else { 0 };
        self.registers.control = self.registers.control & !writable | value & writable;
        if self.registers.ipsr == 0 {
            self.set_mode(0, value & CONTROL_SPSEL != 0);
        }
    }

    /// SVC is taken before the next instruction. If it is masked, it becomes a HardFault.
    fn supervisor_call(&mut self) -> Exec<()> {
        if !self.exceptions.would_preempt(SVCALL) {
            return Err(Trap::Fault(Fault {
                exception: SVCALL,
                cfsr: 0,
                address: None,
            }));
        }
        self.pend(SVCALL);
        Ok(())
    }
}
