//! Multiplication and division.

use super::arithmetic::saturate_signed;
use crate::bus::Bus;
use crate::core::Core;
use crate::decode::{Multiply, Op};
use crate::registers::Registers;
use crate::timing::{divide_cycles, long_operand_cycles};
use crate::trap::{cfsr, Exec, Trap};

/// A signed halfword of `value`: the top one if `top`.
fn half(value: u32, top: bool) -> i64 {
    i64::from(if top {
        (value >> 16) as i16
    } else {
        value as i16
    })
}

/// The products of the low halves and of the high halves. `exchange` swaps m's halves first.
fn dual(n: u32, m: u32, exchange: bool) -> (i64, i64) {
    let m = if exchange { m.rotate_right(16) } else { m };
    (
        half(n, false) * half(m, false),
        half(n, true) * half(m, true),
    )
}

fn absolute_differences(n: u32, m: u32) -> u32 {
    n.to_le_bytes()
        .iter()
        .zip(m.to_le_bytes())
        .map(|(&a, b)| u32::from(a.abs_diff(b)))
        .sum()
}

impl Core {
    pub(super) fn multiply<B: Bus>(
        &mut self,
        bus: &mut B,
        op: &Op,
        multiply: Multiply,
    ) -> Exec<()> {
        let (n, m) = (self.registers.get(op.n), self.registers.get(op.m));
        match multiply {
            Multiply::Mul => self.registers.plain_product(op, n.wrapping_mul(m)),
            Multiply::Mla => self.registers.set(
                op.d,
                self.registers.get(op.a).wrapping_add(n.wrapping_mul(m)),
            ),
            Multiply::Mls => self.registers.set(
                op.d,
                self.registers.get(op.a).wrapping_sub(n.wrapping_mul(m)),
            ),
            Multiply::Sdiv => {
                return self.divide(
                    bus,
                    op,
                    (n as i32).unsigned_abs(),
                    (m as i32).unsigned_abs(),
                    (n ^ m) >> 31 != 0,
                )
            }
            Multiply::Udiv => return self.divide(bus, op, n, m, false),
            Multiply::SmlaHalves | Multiply::SmlaWide | Multiply::Smlad | Multiply::Smlsd => {
                self.registers.halfword_product(op, multiply, n, m)
            }
            Multiply::Smmla | Multiply::Smmls => self.registers.top_product(op, multiply, n, m),
            Multiply::Usada8 => {
                let sum = absolute_differences(n, m);
                self.registers.set(
                    op.d,
                    self.registers.addend(op).wrapping_add(sum as i64) as u32,
                );
            }
            _ => {
                // On a Cortex-M3 it takes several cycles, by its operands, and an interrupt abandons it.
                if op.cycles > 1 {
                    self.wait_for_operands(bus, op, multiply, n, m)?;
                }
                self.registers.long_product(op, multiply, n, m);
            }
        }
        Ok(())
    }

    /// Division by zero gives zero, unless CCR makes it a fault. An interrupt abandons the
    /// division, which is restarted later (TRM 3.9.1).
    fn divide<B: Bus>(
        &mut self,
        bus: &mut B,
        op: &Op,
        dividend: u32,
        divisor: u32,
        negative: bool,
    ) -> Exec<()> {
        if divisor == 0 && self.private.scb.traps_division_by_zero() {
            return Err(Trap::usage(cfsr::DIVBYZERO));
        }
        let more_cycles = divide_cycles(dividend, divisor);
        if self.interrupted_before(bus, u64::from(op.cycles) + more_cycles) {
            return Err(Trap::Interrupted);
        }
        self.pipeline.spend(more_cycles);
        let quotient = dividend.checked_div(divisor).unwrap_or(0);
        self.registers.set(
            op.d,
            if negative {
                quotient.wrapping_neg()
            } else {
                quotient
            },
        );
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn wait_for_operands<B: Bus>(
        &mut self,
        bus: &mut B,
        op: &Op,
        multiply: Multiply,
        n: u32,
        m: u32,
    ) -> Exec<()> {
        let signed = matches!(multiply, Multiply::Smull | Multiply::Smlal);
        let more_cycles = long_operand_cycles(n, m, signed);
        if self.interrupted_before(bus, u64::from(op.cycles) + more_cycles) {
            return Err(Trap::Interrupted);
        }
        self.pipeline.spend(more_cycles);
        Ok(())
    }
}

impl Registers {
    fn plain_product(&mut self, op: &Op, product: u32) {
        self.set(op.d, product);
        if self.sets_flags(op) {
            self.flags.set_nz(product);
        }
    }

    /// Ra, sign-extended. 0 if the encoding has none.
    fn addend(&self, op: &Op) -> i64 {
        if op.a == 15 {
            0
        } else {
            i64::from(self.get(op.a) as i32)
        }
    }

    /// Products of halfwords, accumulated. Overflow sets Q.
    fn halfword_product(&mut self, op: &Op, multiply: Multiply, n: u32, m: u32) {
        let (upper, lower) = (op.amount & 2 != 0, op.amount & 1 != 0);
        let product = match multiply {
            Multiply::SmlaHalves => half(n, upper) * half(m, lower),
            Multiply::SmlaWide => (i64::from(n as i32) * half(m, lower)) >> 16,
            Multiply::Smlad => {
                let (low, high) = dual(n, m, lower);
                low + high
            }
            _ => {
                let (low, high) = dual(n, m, lower);
                low - high
            }
        };
        let sum = self.addend(op) + product;
        self.flags.q |= saturate_signed(sum, 32).1;
        self.set(op.d, sum as u32);
    }

    /// SMMLA, SMMLS: the upper word of the 64-bit result.
    fn top_product(&mut self, op: &Op, multiply: Multiply, n: u32, m: u32) {
        let product = i64::from(n as i32) * i64::from(m as i32);
        let addend = self.addend(op) << 32;
        let sum = if multiply == Multiply::Smmla {
            addend.wrapping_add(product)
        } else {
            addend.wrapping_sub(product)
        };
        let rounding = if op.amount & 1 != 0 { 0x8000_0000 } else { 0 };
        self.set(op.d, (sum.wrapping_add(rounding) >> 32) as u32);
    }

    fn long_product(&mut self, op: &Op, multiply: Multiply, n: u32, m: u32) {
        let old = u64::from(self.get(op.a)) << 32 | u64::from(self.get(op.d));
        let signed = (i64::from(n as i32) * i64::from(m as i32)) as u64;
        let unsigned = u64::from(n) * u64::from(m);
        let (upper, lower) = (op.amount & 2 != 0, op.amount & 1 != 0);
        let (low, high) = dual(n, m, lower);
        let result = match multiply {
            Multiply::Smull => signed,
            Multiply::Umull => unsigned,
            Multiply::Smlal => old.wrapping_add(signed),
            Multiply::Umlal => old.wrapping_add(unsigned),
            Multiply::Umaal => unsigned + (old >> 32) + (old & 0xFFFF_FFFF),
            Multiply::SmlalHalves => old.wrapping_add((half(n, upper) * half(m, lower)) as u64),
            Multiply::Smlald => old.wrapping_add((low + high) as u64),
            _ => old.wrapping_add((low - high) as u64),
        };
        self.set(op.d, result as u32);
        self.set(op.a, (result >> 32) as u32);
    }
}
