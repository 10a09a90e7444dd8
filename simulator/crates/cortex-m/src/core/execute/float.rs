//! Floating-point transfers. Arithmetic is in `float_arithmetic`.

use crate::bus::{Bus, Width};
use crate::core::Core;
use crate::data_path::require_aligned;
use crate::decode::{Float, Index, Op};
use crate::registers::{CONTROL_FPCA, FPSCR_MODES, FPSCR_WRITABLE};
use crate::scb::FPCCR_ASPEN;
use crate::trap::{cfsr, Exec, Trap};

impl Core {
    pub(super) fn float<B: Bus>(&mut self, bus: &mut B, op: &Op, float: Float) -> Exec<()> {
        self.prepare_float(bus)?;
        match float {
            Float::FromCore => self.registers.float.s[op.n as usize] = self.registers.get(op.a),
            Float::ToCore => self
                .registers
                .set(op.a, self.registers.float.s[op.n as usize]),
            Float::FromCorePair => {
                self.registers.float.s[op.m as usize] = self.registers.get(op.a);
                self.registers.float.s[usize::from(op.m + 1) & 31] = self.registers.get(op.n);
            }
            Float::ToCorePair => {
                let (first, second) = (
                    self.registers.float.s[op.m as usize],
                    self.registers.float.s[usize::from(op.m + 1) & 31],
                );
                self.registers.set(op.a, first);
                self.registers.set(op.n, second);
            }
            // VMRS APSR_nzcv, FPSCR.
            Float::FromFpscr if op.a == 15 => {
                let q = self.registers.flags.q;
                self.registers.flags.set_nzcvq(self.registers.float.fpscr);
                self.registers.flags.q = q;
            }
            Float::FromFpscr => self.registers.set(op.a, self.registers.float.fpscr),
            Float::ToFpscr => {
                self.registers.float.fpscr = self.registers.get(op.a) & FPSCR_WRITABLE
            }
            Float::Load | Float::Store => {
                let base = if op.n == 15 {
                    self.registers.general[15] & !3
                } else {
                    self.registers.get(op.n)
                };
                let address = base.wrapping_add(op.imm);
                require_aligned(address, Width::Word)?;
                for n in 0..op.amount {
                    self.transfer_word(bus, op, address, n, n, float == Float::Load)?;
                }
            }
            Float::LoadMultiple | Float::StoreMultiple => {
                let base = self.registers.get(op.n);
                return self.transfer_words(bus, op, base, 0, float == Float::LoadMultiple);
            }
            Float::Div | Float::Sqrt => {
                self.registers.float.arithmetic(op, float);
                // They do not delay an exception: the unit finishes during the stacking (ARM, "What is the
                // behavior when an exception occurs while executing a floating operation"; erratum
                // 776924).
                let cycles = u64::from(op.cycles);
                if self.interrupted_before(bus, cycles) {
                    let now = self.pipeline.cycles();
                    self.pipeline.go_back_to(now.saturating_sub(cycles));
                }
            }
            _ => self.registers.float.arithmetic(op, float),
        }
        Ok(())
    }

    /// `ExecuteFPCheck` (B1.5.7): checks access rights, saves the state of the last context if that
    /// was put off, and begins a new context.
    fn prepare_float<B: Bus>(&mut self, bus: &mut B) -> Exec<()> {
        if !self
            .private
            .scb
            .float_accessible(self.registers.privileged())
        {
            return Err(Trap::usage(cfsr::NOCP));
        }
        if self.private.scb.lazy_state_pending() {
            self.preserve_float_state(bus)?;
        }
        if self.private.scb.fpccr & FPCCR_ASPEN != 0 && self.registers.control & CONTROL_FPCA == 0 {
            self.registers.float.fpscr =
                self.registers.float.fpscr & !FPSCR_MODES | self.private.scb.fpdscr;
            self.registers.control |= CONTROL_FPCA;
        }
        Ok(())
    }

    /// Continues VLDM, VSTM, VPUSH or VPOP after `done` words. A fault restores the base.
    pub(crate) fn continue_float<B: Bus>(
        &mut self,
        bus: &mut B,
        op: &Op,
        float: Float,
        done: u8,
    ) -> Exec<()> {
        self.prepare_float(bus)?;
        let moved = op.index == Index::Pre;
        let base = self
            .registers
            .get(op.n)
            .wrapping_add(if moved { op.imm } else { 0 });
        let result = self.transfer_words(bus, op, base, done, float == Float::LoadMultiple);
        if moved && matches!(result, Err(Trap::Fault(_) | Trap::Stop(_))) {
            self.registers.set(op.n, base);
        }
        result
    }

    /// Transfers from word `first` on. `base` is the base register before the instruction.
    fn transfer_words<B: Bus>(
        &mut self,
        bus: &mut B,
        op: &Op,
        base: u32,
        first: u8,
        load: bool,
    ) -> Exec<()> {
        let (address, updated) = match op.index {
            Index::Pre => (base.wrapping_sub(op.imm), base.wrapping_sub(op.imm)),
            Index::Post => (base, base.wrapping_add(op.imm)),
            Index::Offset => (base, base),
        };
        require_aligned(address, Width::Word)?;
        for n in first..op.amount {
            let register = op.d + n;
            // EPSR.ICI holds the number of a D register.
            if register % 2 == 0 && self.interrupted_at(bus, (n - first).into()) {
                return self.leave_float(op, register / 2, updated);
            }
            self.transfer_word(bus, op, address, n, n - first, load)?;
        }
        self.registers.set(op.n, updated);
        Ok(())
    }

    #[cold]
    fn leave_float(&mut self, op: &Op, next: u8, updated: u32) -> Exec<()> {
        if self.registers.save_continuation(next, self.model.facts()) && op.index == Index::Pre {
            self.registers.set(op.n, updated);
        }
        Err(Trap::Interrupted)
    }

    /// Transfers word `n` from `address` on, as transfer number `transfer`.
    fn transfer_word<B: Bus>(
        &mut self,
        bus: &mut B,
        op: &Op,
        address: u32,
        n: u8,
        transfer: u8,
        load: bool,
    ) -> Exec<()> {
        let place = address.wrapping_add(4 * u32::from(n));
        let register = usize::from(op.d + n) & 31;
        if load {
            self.registers.float.s[register] =
                self.load(bus, place, Width::Word, transfer.into())?;
            return Ok(());
        }
        self.store(
            bus,
            place,
            Width::Word,
            self.registers.float.s[register],
            transfer.into(),
        )
    }
}
