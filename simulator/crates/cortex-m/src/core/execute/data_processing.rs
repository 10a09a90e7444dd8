//! Data processing: one operand is a register, the other a constant, a register or a shifted
//! register.

use super::arithmetic::{add_with_carry, shift_with_carry};
use crate::decode::{Alu, Op, SetFlags};
use crate::registers::Registers;

impl Registers {
    #[inline(always)]
    pub fn alu_immediate(&mut self, op: &Op, alu: Alu) {
        let carry = if op.amount != 0 {
            op.imm >> 31 != 0
        } else {
            self.flags.c
        };
        self.alu(op, alu, op.imm, carry)
    }

    #[inline(always)]
    pub fn alu_register(&mut self, op: &Op, alu: Alu) {
        self.alu(op, alu, self.get(op.m), self.flags.c)
    }

    #[inline(always)]
    pub fn alu_shifted(&mut self, op: &Op, alu: Alu) {
        let (operand, carry) =
            shift_with_carry(self.get(op.m), op.shift, op.amount.into(), self.flags.c);
        self.alu(op, alu, operand, carry)
    }

    pub fn shift_by_register(&mut self, op: &Op) {
        let amount = self.get(op.m) & 0xFF;
        let (result, carry) = shift_with_carry(self.get(op.n), op.shift, amount, self.flags.c);
        self.set(op.d, result);
        if self.sets_flags(op) {
            self.flags.set_nz(result);
            self.flags.c = carry;
        }
    }

    #[inline(always)]
    pub fn sets_flags(&self, op: &Op) -> bool {
        match op.flags {
            SetFlags::Never => false,
            SetFlags::Always => true,
            SetFlags::OutsideIt => self.itstate == 0,
        }
    }

    /// `b` is the second operand. `carry` is the C flag after a logical operation.
    #[inline(always)]
    fn alu(&mut self, op: &Op, alu: Alu, b: u32, carry: bool) {
        let a = self.get(op.n);
        let c = self.flags.c;
        match alu {
            Alu::And => self.logical(op, a & b, carry),
            Alu::Bic => self.logical(op, a & !b, carry),
            Alu::Orr => self.logical(op, a | b, carry),
            Alu::Orn => self.logical(op, a | !b, carry),
            Alu::Eor => self.logical(op, a ^ b, carry),
            Alu::Mov => self.logical(op, b, carry),
            Alu::Mvn => self.logical(op, !b, carry),
            Alu::Add => self.arithmetic(op, a, b, false),
            Alu::Adc => self.arithmetic(op, a, b, c),
            Alu::Sub => self.arithmetic(op, a, !b, true),
            Alu::Sbc => self.arithmetic(op, a, !b, c),
            Alu::Rsb => self.arithmetic(op, !a, b, true),
            Alu::Tst => self.set_logical_flags(a & b, carry),
            Alu::Teq => self.set_logical_flags(a ^ b, carry),
            Alu::Cmp => _ = self.set_arithmetic_flags(a, !b, true),
            Alu::Cmn => _ = self.set_arithmetic_flags(a, b, false),
        }
    }

    #[inline(always)]
    fn logical(&mut self, op: &Op, result: u32, carry: bool) {
        self.set(op.d, result);
        if self.sets_flags(op) {
            self.set_logical_flags(result, carry);
        }
    }

    #[inline(always)]
    fn arithmetic(&mut self, op: &Op, a: u32, b: u32, carry: bool) {
        if self.sets_flags(op) {
            let result = self.set_arithmetic_flags(a, b, carry);
            self.set(op.d, result);
        } else {
            self.set(op.d, a.wrapping_add(b).wrapping_add(carry.into()));
        }
    }

    #[inline(always)]
    fn set_logical_flags(&mut self, result: u32, carry: bool) {
        self.flags.set_nz(result);
        self.flags.c = carry;
    }

    #[inline(always)]
    fn set_arithmetic_flags(&mut self, a: u32, b: u32, carry: bool) -> u32 {
        let (result, carry, overflow) = add_with_carry(a, b, carry);
        self.flags.set_nz(result);
        self.flags.c = carry;
        self.flags.v = overflow;
        result
    }
}
