//! The short ways of carrying out what programs execute most: each does what `execute` does for the same instruction.

use crate::bus::{Bus, Width};
use crate::core::decode::{Form, Op};
use crate::core::trap::Exec;
use crate::core::Core;

impl Core {
    /// As `execute`, for an instruction outside IT blocks.
    #[inline(always)]
    pub(in crate::core) fn execute_form<B: Bus>(
        &mut self,
        bus: &mut B,
        op: &Op,
        next: &mut u32,
    ) -> Exec<()> {
        match op.form {
            Form::General => {
                self.execute(bus, op)?;
                *next = self.next_pc;
            }
            Form::LoadWord => self.load_word(bus, op, self.get(op.n).wrapping_add(op.imm))?,
            Form::LoadWordRegister => {
                let offset = self.get(op.m) << (op.amount & 3);
                self.load_word(bus, op, self.get(op.n).wrapping_add(offset))?;
            }
            Form::LoadWordLiteral => self.load_word(bus, op, op.imm)?,
            Form::StoreWord => self.store_word(bus, op)?,
            Form::Branch => *next = self.branch_here(op),
            Form::BranchIf => {
                if self.flags.satisfy(op.amount) {
                    *next = self.branch_here(op);
                }
            }
            Form::BranchLink => *next = self.branch_link(op),
            Form::BranchIfZero => {
                if self.get(op.n) == 0 {
                    *next = self.branch_ahead(op);
                }
            }
            Form::BranchIfNotZero => {
                if self.get(op.n) != 0 {
                    *next = self.branch_ahead(op);
                }
            }
            Form::Move => self.put(op, self.get(op.m)),
            Form::MoveImmediate => self.put(op, op.imm),
            Form::MoveImmediateFlags => self.put_nz(op, op.imm),
            Form::ShiftLeftFlags => {
                let wide = u64::from(self.get(op.m)) << (op.amount & 31);
                self.flags.c = wide >> 32 & 1 != 0;
                self.put_nz(op, wide as u32);
            }
            Form::ShiftRightFlags => {
                let wide = u64::from(self.get(op.m)) << 1 >> (op.amount & 31);
                self.flags.c = wide & 1 != 0;
                self.put_nz(op, (wide >> 1) as u32);
            }
            Form::Compare => _ = self.flags.subtract(self.get(op.n), self.get(op.m)),
            Form::CompareImmediate => _ = self.flags.subtract(self.get(op.n), op.imm),
            Form::Add => self.put(op, self.get(op.n).wrapping_add(self.get(op.m))),
            Form::AddFlags => {
                let sum = self.flags.add(self.get(op.n), self.get(op.m));
                self.put(op, sum);
            }
            Form::AddImmediate => self.put(op, self.get(op.n).wrapping_add(op.imm)),
            Form::AddImmediateFlags => {
                let sum = self.flags.add(self.get(op.n), op.imm);
                self.put(op, sum);
            }
            Form::AddShiftedLeft => {
                let shifted = self.get(op.m) << (op.amount & 31);
                self.put(op, self.get(op.n).wrapping_add(shifted));
            }
            Form::Subtract => self.put(op, self.get(op.n).wrapping_sub(self.get(op.m))),
            Form::SubtractFlags => {
                let difference = self.flags.subtract(self.get(op.n), self.get(op.m));
                self.put(op, difference);
            }
            Form::SubtractImmediate => self.put(op, self.get(op.n).wrapping_sub(op.imm)),
            Form::SubtractImmediateFlags => {
                let difference = self.flags.subtract(self.get(op.n), op.imm);
                self.put(op, difference);
            }
            Form::AndImmediate => self.put(op, self.get(op.n) & op.imm),
            Form::Or => self.put(op, self.get(op.n) | self.get(op.m)),
            Form::ExclusiveOrShiftedRight => {
                let shifted = self.get(op.m) >> (op.amount & 31);
                self.put(op, self.get(op.n) ^ shifted);
            }
        }
        Ok(())
    }

    /// Writes a result to a register other than SP and PC.
    #[inline(always)]
    fn put(&mut self, op: &Op, result: u32) {
        self.registers[usize::from(op.d & 15)] = result;
    }

    #[inline(always)]
    fn put_nz(&mut self, op: &Op, result: u32) {
        self.flags.set_nz(result);
        self.put(op, result);
    }

    #[inline(always)]
    fn load_word<B: Bus>(&mut self, bus: &mut B, op: &Op, address: u32) -> Exec<()> {
        self.overlap_with_load(op, address);
        self.wait_behind_store();
        let value = match self.load_plain_word(bus, address) {
            Some(word) => word,
            None => self.load(bus, address, Width::Word, 0)?,
        };
        self.put(op, value);
        self.pairs.loaded(self.instructions, op.d, address);
        Ok(())
    }

    #[inline(always)]
    fn store_word<B: Bus>(&mut self, bus: &mut B, op: &Op) -> Exec<()> {
        let address = self.get(op.n).wrapping_add(op.imm);
        let value = self.get(op.d);
        if self.timing.is_nucleo() {
            self.overlap_with_load(op, address);
        }
        if self.store_plain_word(bus, address, value) {
            return Ok(());
        }
        self.store(bus, address, Width::Word, value, 0)
    }
}
