//! Single-precision arithmetic (A2.5): operands, NaNs and flags as the manual has them; rounding is `rounding`'s.

use super::rounding::{self, Environment};
use crate::core::decode::{Float, Op};
use crate::core::trap::{Exec, Trap};
use crate::core::Core;

const FPSCR_AHP: u32 = 1 << 26;
const FPSCR_IOC: u32 = 1 << 0;
const SIGN: u32 = 0x8000_0000;
const QUIET: u32 = 0x0040_0000;
const INFINITY: u32 = 0x7F80_0000;
const DEFAULT_NAN: u32 = 0x7FC0_0000;
/// N, Z, C, V of a comparison, at FPSCR 31:28.
const EQUAL: u32 = 0b0110;
const LESS: u32 = 0b1000;
const GREATER: u32 = 0b0010;
const UNORDERED: u32 = 0b0011;

fn is_nan(bits: u32) -> bool {
    bits & !SIGN > INFINITY
}

fn is_signalling(bits: u32) -> bool {
    is_nan(bits) && bits & QUIET == 0
}

fn is_infinite(bits: u32) -> bool {
    bits & !SIGN == INFINITY
}

fn is_zero(bits: u32) -> bool {
    bits & !SIGN == 0
}

impl Core {
    pub(super) fn float_arithmetic(&mut self, op: &Op, float: Float) -> Exec<()> {
        let [d, n, m] = [op.d, op.n, op.m].map(|register| self.float.s[register as usize]);
        let result = match float {
            Float::Move => m,
            Float::Immediate => op.imm,
            Float::Abs => m & !SIGN,
            Float::Neg => m ^ SIGN,
            Float::Compare => return self.compare(op, d, m),
            Float::CompareZero => return self.compare(op, d, 0),
            Float::FromHalf | Float::ToHalf => self.convert_half(op, float, d, m)?,
            Float::FromInteger | Float::ToInteger => self.convert_integer(op, float, m),
            Float::FromFixed | Float::ToFixed => self.convert_fixed(op, float, d),
            Float::Sqrt => self.square_root(m),
            Float::Add | Float::Sub | Float::Mul | Float::Div => self.two_operands(float, n, m),
            Float::Nmul => self.two_operands(Float::Mul, n, m) ^ SIGN,
            _ => self.accumulate(float, d, n, m),
        };
        self.float.s[op.d as usize] = result;
        Ok(())
    }

    fn environment(&self) -> Environment {
        Environment::of(self.float.fpscr)
    }

    /// An operand as arithmetic sees it: subnormals are zeros under flush-to-zero.
    fn operand(&mut self, bits: u32) -> u32 {
        let (value, flags) = self.environment().flush_operand(bits);
        self.float.fpscr |= flags;
        value
    }

    /// `FPProcessNaNs`: the result if an operand is a NaN; signalling ones go first.
    fn propagate_nan(&mut self, operands: &[u32]) -> Option<u32> {
        let signalling = operands.iter().copied().find(|&bits| is_signalling(bits));
        if signalling.is_some() {
            self.float.fpscr |= FPSCR_IOC;
        }
        let nan = signalling.or_else(|| operands.iter().copied().find(|&bits| is_nan(bits)))?;
        Some(if self.environment().default_nan {
            DEFAULT_NAN
        } else {
            nan | QUIET
        })
    }

    /// The result of an operation on numbers; a NaN among those can only be the default one.
    fn finish(&mut self, (result, flags): (u32, u32)) -> u32 {
        self.float.fpscr |= flags;
        if is_nan(result) {
            DEFAULT_NAN
        } else {
            result
        }
    }

    fn two_operands(&mut self, float: Float, n: u32, m: u32) -> u32 {
        let (n, m) = (self.operand(n), self.operand(m));
        if let Some(nan) = self.propagate_nan(&[n, m]) {
            return nan;
        }
        let environment = self.environment();
        self.finish(match float {
            Float::Add => environment.add(n, m),
            Float::Sub => environment.add(n, m ^ SIGN),
            Float::Div => environment.divide(n, m),
            _ => environment.multiply(n, m),
        })
    }

    /// VMLA and its kin round the product first; VFMA and its kin do not.
    fn accumulate(&mut self, float: Float, d: u32, n: u32, m: u32) -> u32 {
        let sign = |negate: bool| if negate { SIGN } else { 0 };
        let negate_addend = matches!(float, Float::Nmla | Float::Nmls | Float::Fnma | Float::Fnms);
        let negate_product = matches!(float, Float::Mls | Float::Nmla | Float::Fms | Float::Fnma);
        let d = d ^ sign(negate_addend);
        if matches!(float, Float::Fma | Float::Fms | Float::Fnma | Float::Fnms) {
            return self.fused(d, n ^ sign(negate_product), m);
        }
        let product = self.two_operands(Float::Mul, n, m) ^ sign(negate_product);
        self.two_operands(Float::Add, d, product)
    }

    /// `FPMulAdd`: with a quiet NaN as addend, infinity times zero is still invalid.
    fn fused(&mut self, d: u32, n: u32, m: u32) -> u32 {
        let [d, n, m] = [d, n, m].map(|bits| self.operand(bits));
        let invalid = is_infinite(n) && is_zero(m) || is_zero(n) && is_infinite(m);
        if invalid && is_nan(d) && !is_signalling(d) {
            self.float.fpscr |= FPSCR_IOC;
            return DEFAULT_NAN;
        }
        match self.propagate_nan(&[d, n, m]) {
            Some(nan) => nan,
            None => self.finish(self.environment().multiply_add(d, n, m)),
        }
    }

    fn square_root(&mut self, m: u32) -> u32 {
        let m = self.operand(m);
        match self.propagate_nan(&[m]) {
            Some(nan) => nan,
            None => self.finish(self.environment().square_root(m)),
        }
    }

    fn compare(&mut self, op: &Op, d: u32, m: u32) -> Exec<()> {
        let (d, m) = (self.operand(d), self.operand(m));
        let any_nan_signals = op.imm & 1 != 0;
        if is_signalling(d) || is_signalling(m) || any_nan_signals && (is_nan(d) || is_nan(m)) {
            self.float.fpscr |= FPSCR_IOC;
        }
        let nzcv = match f32::from_bits(d).partial_cmp(&f32::from_bits(m)) {
            Some(std::cmp::Ordering::Equal) => EQUAL,
            Some(std::cmp::Ordering::Less) => LESS,
            Some(std::cmp::Ordering::Greater) => GREATER,
            None => UNORDERED,
        };
        self.float.fpscr = self.float.fpscr & 0x0FFF_FFFF | nzcv << 28;
        Ok(())
    }

    fn convert_integer(&mut self, op: &Op, float: Float, m: u32) -> u32 {
        let signed = op.imm & 1 != 0;
        let environment = self.environment();
        if float == Float::FromInteger {
            let value = if signed {
                i64::from(m as i32)
            } else {
                i64::from(m)
            };
            return self.finish(environment.from_integer(value));
        }
        let environment = if op.imm & 2 != 0 {
            environment.truncating()
        } else {
            environment
        };
        let m = self.operand(m);
        self.finish_integer(environment.to_fixed(m, 0, signed, 32))
    }

    /// From fixed point always rounds to nearest, to fixed point towards zero (A7.7.229).
    fn convert_fixed(&mut self, op: &Op, float: Float, d: u32) -> u32 {
        let signed = op.imm & 1 != 0;
        let width = if op.imm & 2 != 0 { 32 } else { 16 };
        if float == Float::FromFixed {
            return rounding::from_fixed(d, op.amount, signed, width, &mut self.float.fpscr);
        }
        let d = self.operand(d);
        let environment = self.environment().truncating();
        self.finish_integer(environment.to_fixed(d, op.amount, signed, width))
    }

    fn finish_integer(&mut self, (result, flags): (u32, u32)) -> u32 {
        self.float.fpscr |= flags;
        result
    }

    /// VCVTB, VCVTT between single and half precision; the other half of the destination stays.
    fn convert_half(&mut self, op: &Op, float: Float, d: u32, m: u32) -> Exec<u32> {
        if self.float.fpscr & FPSCR_AHP != 0 {
            return Err(Trap::unmodelled(
                "the alternative half-precision format",
                self.pc,
                self.pc,
            ));
        }
        let shift = 16 * (op.imm & 1);
        let environment = self.environment();
        if float == Float::FromHalf {
            let (result, flags) = environment.from_half((m >> shift) as u16);
            self.float.fpscr |= flags;
            return Ok(result);
        }
        let m = self.operand(m);
        let (half, flags) = environment.to_half(m);
        self.float.fpscr |= flags;
        Ok(d & !(0xFFFF << shift) | u32::from(half) << shift)
    }
}
