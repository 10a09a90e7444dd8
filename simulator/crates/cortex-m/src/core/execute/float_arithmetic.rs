//! Single-precision arithmetic (A2.5): operands, NaNs and invalid operations. `rounding` rounds the
//! results.

use super::rounding::{
    self, Environment, Flagged, Round, FPSCR_DZC, FPSCR_IDC, FPSCR_IOC, FPSCR_IXC,
};
use crate::decode::{Float, Op};
use crate::registers::FloatRegisters;

const SIGN: u32 = 0x8000_0000;
const QUIET: u32 = 0x0040_0000;
const INFINITY: u32 = 0x7F80_0000;
const SMALLEST_NORMAL: u32 = 0x0080_0000;
const DEFAULT_NAN: u32 = 0x7FC0_0000;
/// N, Z, C, V of a comparison, for FPSCR 31:28.
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

/// A single-precision number, exactly.
fn number(bits: u32) -> f64 {
    f32::from_bits(bits).into()
}

impl FloatRegisters {
    pub fn arithmetic(&mut self, op: &Op, float: Float) {
        let [d, n, m] = [op.d, op.n, op.m].map(|register| self.s[register as usize]);
        let result = match float {
            Float::Move => m,
            Float::Immediate => op.imm,
            Float::Abs => m & !SIGN,
            Float::Neg => m ^ SIGN,
            Float::Compare => return self.compare(op, d, m),
            Float::CompareZero => return self.compare(op, d, 0),
            Float::FromHalf => self.widen_half(op, m),
            Float::ToHalf => self.narrow_to_half(op, d, m),
            Float::FromInteger | Float::ToInteger => self.convert_integer(op, float, m),
            Float::FromFixed | Float::ToFixed => self.convert_fixed(op, float, d),
            Float::Sqrt => self.square_root(m),
            Float::Add | Float::Sub | Float::Mul | Float::Div => self.two_operands(float, n, m),
            Float::Nmul => self.two_operands(Float::Mul, n, m) ^ SIGN,
            _ => self.accumulate(float, d, n, m),
        };
        self.s[op.d as usize] = result;
    }

    fn environment(&self) -> Environment {
        Environment::of(self.fpscr)
    }

    /// Sets cumulative flags and returns the result.
    fn flagged<T>(&mut self, (result, flags): Flagged<T>) -> T {
        self.fpscr |= flags;
        result
    }

    /// `FPUnpack`: with flush-to-zero, subnormal operands are zeros.
    fn operand(&mut self, bits: u32) -> u32 {
        let magnitude = bits & !SIGN;
        if self.environment().flush_to_zero && magnitude != 0 && magnitude < SMALLEST_NORMAL {
            return self.flagged((bits & SIGN, FPSCR_IDC));
        }
        bits
    }

    /// `FPProcessNaNs`: the result if an operand is a NaN. Signalling NaNs come first.
    fn propagate_nan(&mut self, operands: &[u32]) -> Option<u32> {
        let signalling = operands.iter().copied().find(|&bits| is_signalling(bits));
        if signalling.is_some() {
            self.fpscr |= FPSCR_IOC;
        }
        let nan = signalling.or_else(|| operands.iter().copied().find(|&bits| is_nan(bits)))?;
        Some(if self.environment().default_nan {
            DEFAULT_NAN
        } else {
            nan | QUIET
        })
    }

    /// Rounds a result. `odd` is rounded to odd. If it is a NaN, the operation was invalid.
    fn finish(&mut self, odd: f64) -> u32 {
        let rounded = if odd.is_nan() {
            (DEFAULT_NAN, FPSCR_IOC)
        } else {
            self.environment().to_single(odd)
        };
        self.flagged(rounded)
    }

    fn two_operands(&mut self, float: Float, n: u32, m: u32) -> u32 {
        let (n, m) = (self.operand(n), self.operand(m));
        if let Some(nan) = self.propagate_nan(&[n, m]) {
            return nan;
        }
        let (n, m) = (number(n), number(m));
        match float {
            Float::Add => self.sum(n, m),
            Float::Sub => self.sum(n, -m),
            Float::Div => self.quotient(n, m),
            // The product of two 24-bit significands is exact in double precision.
            _ => self.finish(n * m),
        }
    }

    /// `FPAdd`: an exact zero from operands of unlike signs is negative when rounding down.
    fn sum(&mut self, a: f64, b: f64) -> u32 {
        let odd = rounding::add(a, b);
        let cancelled = odd == 0.0 && a.is_sign_negative() != b.is_sign_negative();
        let rounds_down = self.environment().round == Round::Down;
        self.finish(if cancelled && rounds_down { -0.0 } else { odd })
    }

    fn quotient(&mut self, n: f64, m: f64) -> u32 {
        if m == 0.0 && n != 0.0 && n.is_finite() {
            self.fpscr |= FPSCR_DZC;
        }
        self.finish(rounding::divide(n, m))
    }

    /// VMLA and the like round the product first. VFMA and the like do not.
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

    /// `FPMulAdd`: infinity times zero is invalid even if the addend is a quiet NaN.
    fn fused(&mut self, d: u32, n: u32, m: u32) -> u32 {
        let [d, n, m] = [d, n, m].map(|bits| self.operand(bits));
        let product = number(n) * number(m);
        let invalid = product.is_nan() && !is_nan(n) && !is_nan(m);
        if invalid && is_nan(d) && !is_signalling(d) {
            return self.flagged((DEFAULT_NAN, FPSCR_IOC));
        }
        match self.propagate_nan(&[d, n, m]) {
            Some(nan) => nan,
            None => self.sum(number(d), product),
        }
    }

    fn square_root(&mut self, m: u32) -> u32 {
        let m = self.operand(m);
        match self.propagate_nan(&[m]) {
            Some(nan) => nan,
            None => self.finish(rounding::square_root(number(m))),
        }
    }

    fn compare(&mut self, op: &Op, d: u32, m: u32) {
        let (d, m) = (self.operand(d), self.operand(m));
        let any_nan_signals = op.imm & 1 != 0;
        if is_signalling(d) || is_signalling(m) || any_nan_signals && (is_nan(d) || is_nan(m)) {
            self.fpscr |= FPSCR_IOC;
        }
        let nzcv = match number(d).partial_cmp(&number(m)) {
            Some(std::cmp::Ordering::Equal) => EQUAL,
            Some(std::cmp::Ordering::Less) => LESS,
            Some(std::cmp::Ordering::Greater) => GREATER,
            None => UNORDERED,
        };
        self.fpscr = self.fpscr & 0x0FFF_FFFF | nzcv << 28;
    }

    fn convert_integer(&mut self, op: &Op, float: Float, m: u32) -> u32 {
        let signed = op.imm & 1 != 0;
        if float == Float::FromInteger {
            return self.finish(fixed_point(m, 0, signed, 32));
        }
        let round = if op.imm & 2 != 0 {
            Round::Zero
        } else {
            self.environment().round
        };
        let m = self.operand(m);
        self.flagged(to_fixed(m, 0, signed, 32, round))
    }

    /// From fixed point rounds to nearest, to fixed point towards zero (A7.7.229).
    fn convert_fixed(&mut self, op: &Op, float: Float, d: u32) -> u32 {
        let signed = op.imm & 1 != 0;
        let width = if op.imm & 2 != 0 { 32 } else { 16 };
        if float == Float::FromFixed {
            let exact = fixed_point(d, op.amount, signed, width);
            let rounded = self.environment().with(Round::Nearest).to_single(exact);
            return self.flagged(rounded);
        }
        let d = self.operand(d);
        self.flagged(to_fixed(d, op.amount, signed, width, Round::Zero))
    }

    /// VCVTB, VCVTT from half precision (`FPHalfToSingle`). Exact, except for NaNs.
    fn widen_half(&mut self, op: &Op, m: u32) -> u32 {
        let half = m >> (16 * (op.imm & 1));
        let sign = half << 16 & SIGN;
        let (exponent, fraction) = (half >> 10 & 31, half & 0x3FF);
        if exponent == 31 && !self.environment().alternative_half {
            let special = sign | INFINITY | fraction << 13;
            return self.propagate_nan(&[special]).unwrap_or(special);
        }
        let significand = if exponent == 0 {
            fraction
        } else {
            fraction | 0x400
        };
        let magnitude = significand as f32 * 2f32.powi(exponent.max(1) as i32 - 25);
        sign | magnitude.to_bits()
    }

    /// VCVTB, VCVTT to half precision (`FPSingleToHalf`). The other half of the destination stays.
    fn narrow_to_half(&mut self, op: &Op, d: u32, m: u32) -> u32 {
        let shift = 16 * (op.imm & 1);
        let m = self.operand(m);
        let half = if is_nan(m) {
            self.half_nan(m)
        } else {
            let rounded = self.environment().to_half(number(m));
            self.flagged(rounded)
        };
        d & !(0xFFFF << shift) | u32::from(half) << shift
    }

    /// The alternative format has no NaNs. They become zeros, which is invalid.
    fn half_nan(&mut self, nan: u32) -> u16 {
        let sign = (nan >> 16) as u16 & 0x8000;
        if self.environment().alternative_half {
            return self.flagged((sign, FPSCR_IOC));
        }
        let quiet = self.propagate_nan(&[nan]).unwrap_or(nan);
        (quiet >> 16) as u16 & 0x8000 | 0x7C00 | (quiet >> 13) as u16 & 0x3FF
    }
}

/// A fixed-point number, exactly.
fn fixed_point(bits: u32, fraction_bits: u8, signed: bool, width: u32) -> f64 {
    let unused = 32 - width;
    let integer = if signed {
        f64::from((bits << unused) as i32 >> unused)
    } else {
        f64::from(bits << unused >> unused)
    };
    integer / f64::from(2f32.powi(fraction_bits.into()))
}

/// `FPToFixed`: a result out of range saturates, which is invalid. NaN gives 0. Scaling by a power
/// of two is exact in double precision.
fn to_fixed(bits: u32, fraction_bits: u8, signed: bool, width: u32, round: Round) -> Flagged<u32> {
    let value = number(bits) * f64::from(2f32.powi(fraction_bits.into()));
    let rounded = match round {
        Round::Nearest => value.round_ties_even(),
        Round::Up => value.ceil(),
        Round::Down => value.floor(),
        Round::Zero => value.trunc(),
    };
    let (low, high) = if signed {
        (-(1i64 << (width - 1)), (1i64 << (width - 1)) - 1)
    } else {
        (0, (1i64 << width) - 1)
    };
    let result = (rounded as i64).clamp(low, high) as u32;
    if rounded.is_nan() || rounded < low as f64 || rounded > high as f64 {
        return (result, FPSCR_IOC);
    }
    (result, if rounded == value { 0 } else { FPSCR_IXC })
}
