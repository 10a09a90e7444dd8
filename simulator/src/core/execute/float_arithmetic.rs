//! Single-precision arithmetic (A2.5), on the host's IEEE 754 hardware.
//!
//! Round to nearest, without flush-to-zero; the other modes of FPSCR stop the run. NaNs follow A2.5.4, which hosts do
//! differently. Of the cumulative flags only invalid operation and division by zero are kept; IXC, OFC, UFC and IDC are not.

use crate::core::decode::{Float, Op};
use crate::core::trap::{Exec, Trap};
use crate::core::Core;

const FPSCR_DN: u32 = 1 << 25;
const FPSCR_FZ: u32 = 1 << 24;
const FPSCR_AHP: u32 = 1 << 26;
const FPSCR_RMODE: u32 = 3 << 22;
const FPSCR_IOC: u32 = 1 << 0;
const FPSCR_DZC: u32 = 1 << 1;
const SIGN: u32 = 0x8000_0000;
const QUIET: u32 = 0x0040_0000;
const DEFAULT_NAN: u32 = 0x7FC0_0000;
/// N, Z, C, V of a comparison, at FPSCR 31:28.
const EQUAL: u32 = 0b0110;
const LESS: u32 = 0b1000;
const GREATER: u32 = 0b0010;
const UNORDERED: u32 = 0b0011;

fn is_nan(bits: u32) -> bool {
    bits & !SIGN > 0x7F80_0000
}

fn is_signalling(bits: u32) -> bool {
    is_nan(bits) && bits & QUIET == 0
}

impl Core {
    pub(super) fn float_arithmetic(&mut self, op: &Op, float: Float) -> Exec<()> {
        let (n, m) = (self.float.s[op.n as usize], self.float.s[op.m as usize]);
        let result = match float {
            Float::Move => m,
            Float::Immediate => op.imm,
            Float::Abs => m & !SIGN,
            Float::Neg => m ^ SIGN,
            _ => {
                self.require_modelled_modes()?;
                match float {
                    Float::Compare => return self.compare(op, self.float.s[op.d as usize], m),
                    Float::CompareZero => return self.compare(op, self.float.s[op.d as usize], 0),
                    Float::Sqrt => self.square_root(m),
                    Float::FromInteger | Float::ToInteger | Float::FromFixed | Float::ToFixed => {
                        self.convert(op, float, m)
                    }
                    Float::FromHalf | Float::ToHalf => return self.convert_half(op, float, m),
                    Float::Add | Float::Sub | Float::Mul | Float::Div | Float::Nmul => {
                        self.two_operands(float, n, m)
                    }
                    _ => self.accumulate(float, self.float.s[op.d as usize], n, m),
                }
            }
        };
        self.float.s[op.d as usize] = result;
        Ok(())
    }

    fn require_modelled_modes(&self) -> Exec<()> {
        let what = match self.float.fpscr {
            fpscr if fpscr & FPSCR_RMODE != 0 => {
                "a floating-point rounding mode other than to nearest"
            }
            fpscr if fpscr & FPSCR_FZ != 0 => "floating-point flush-to-zero",
            fpscr if fpscr & FPSCR_AHP != 0 => "the alternative half-precision format",
            _ => return Ok(()),
        };
        Err(Trap::unmodelled(what, self.pc, self.pc))
    }

    /// `FPProcessNaNs`: the result if an operand is a NaN; signalling ones go first.
    fn propagate_nan(&mut self, operands: &[u32]) -> Option<u32> {
        let signalling = operands.iter().copied().find(|&bits| is_signalling(bits));
        if signalling.is_some() {
            self.float.fpscr |= FPSCR_IOC;
        }
        let nan = signalling.or_else(|| operands.iter().copied().find(|&bits| is_nan(bits)))?;
        Some(if self.float.fpscr & FPSCR_DN != 0 {
            DEFAULT_NAN
        } else {
            nan | QUIET
        })
    }

    /// A result computed from numbers: a NaN among those is an invalid operation.
    fn finish(&mut self, result: f32) -> u32 {
        if result.is_nan() {
            self.float.fpscr |= FPSCR_IOC;
            return DEFAULT_NAN;
        }
        result.to_bits()
    }

    fn two_operands(&mut self, float: Float, n: u32, m: u32) -> u32 {
        let result = match self.propagate_nan(&[n, m]) {
            Some(nan) => nan,
            None => self.two_numbers(float, f32::from_bits(n), f32::from_bits(m)),
        };
        if float == Float::Nmul {
            result ^ SIGN
        } else {
            result
        }
    }

    fn two_numbers(&mut self, float: Float, n: f32, m: f32) -> u32 {
        let result = match float {
            Float::Add => n + m,
            Float::Sub => n - m,
            Float::Div => {
                if m == 0.0 && n != 0.0 && n.is_finite() {
                    self.float.fpscr |= FPSCR_DZC;
                }
                n / m
            }
            _ => n * m,
        };
        self.finish(result)
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
        let (a, b) = (f32::from_bits(n), f32::from_bits(m));
        let invalid = a.is_infinite() && b == 0.0 || a == 0.0 && b.is_infinite();
        if invalid && is_nan(d) && !is_signalling(d) {
            self.float.fpscr |= FPSCR_IOC;
            return DEFAULT_NAN;
        }
        match self.propagate_nan(&[d, n, m]) {
            Some(nan) => nan,
            None => self.finish(a.mul_add(b, f32::from_bits(d))),
        }
    }

    fn square_root(&mut self, m: u32) -> u32 {
        match self.propagate_nan(&[m]) {
            Some(nan) => nan,
            None => self.finish(f32::from_bits(m).sqrt()),
        }
    }

    fn compare(&mut self, op: &Op, d: u32, m: u32) -> Exec<()> {
        let signals = op.imm & 1 != 0;
        let unordered_is_invalid =
            is_signalling(d) || is_signalling(m) || signals && (is_nan(d) || is_nan(m));
        if unordered_is_invalid {
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

    fn convert(&mut self, op: &Op, float: Float, m: u32) -> u32 {
        let signed = op.imm & 1 != 0;
        match float {
            Float::FromInteger if signed => (m as i32 as f32).to_bits(),
            Float::FromInteger => (m as f32).to_bits(),
            Float::ToInteger => self.to_integer(m, 0, signed, 32, op.imm & 2 != 0),
            Float::FromFixed => from_fixed(self.float.s[op.d as usize], op),
            _ => {
                let bits = if op.imm & 2 != 0 { 32 } else { 16 };
                self.to_integer(self.float.s[op.d as usize], op.amount, signed, bits, true)
            }
        }
    }

    /// `FPToFixed`: saturates, and says so by IOC; NaN gives 0.
    fn to_integer(
        &mut self,
        bits: u32,
        fraction: u8,
        signed: bool,
        width: u32,
        truncate: bool,
    ) -> u32 {
        let value = f64::from(f32::from_bits(bits))
            * f64::from(1u32 << 16)
            * 2f64.powi(i32::from(fraction) - 16);
        let rounded = if truncate {
            value.trunc()
        } else {
            value.round_ties_even()
        };
        let (low, high) = if signed {
            (-(1i64 << (width - 1)), (1i64 << (width - 1)) - 1)
        } else {
            (0, (1i64 << width) - 1)
        };
        if rounded.is_nan() || rounded < low as f64 || rounded > high as f64 {
            self.float.fpscr |= FPSCR_IOC;
        }
        (rounded as i64).clamp(low, high) as u32
    }

    /// VCVTB, VCVTT.
    fn convert_half(&mut self, op: &Op, _float: Float, _m: u32) -> Exec<()> {
        let _ = op;
        Err(Trap::unmodelled(
            "half-precision conversion",
            self.pc,
            self.pc,
        ))
    }
}

fn from_fixed(bits: u32, op: &Op) -> u32 {
    let integer = match (op.imm & 1 != 0, op.imm & 2 != 0) {
        (true, true) => i64::from(bits as i32),
        (true, false) => i64::from(bits as i16),
        (false, true) => i64::from(bits),
        (false, false) => i64::from(bits as u16),
    };
    // A 32-bit integer is exact in f64, scaling by a power of two too: the only rounding is the last.
    let scaled = integer as f64 * 2f64.powi(-i32::from(op.amount));
    (scaled as f32).to_bits()
}
