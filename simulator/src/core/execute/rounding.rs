//! Rounding of single-precision results and its cumulative flags, in every mode of FPSCR (A2.5.3, A2.7 `FPRound`).
//!
//! The arithmetic is LLVM's APFloat. Two things differ on Arm and are done here: an underflow is found before rounding,
//! and flush-to-zero exists. Operands are numbers: NaNs never come here, except into the half-precision conversions.

use rustc_apfloat::ieee::{Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round, Status, StatusAnd};

const FPSCR_IOC: u32 = 1 << 0;
const FPSCR_UFC: u32 = 1 << 3;
const FPSCR_IXC: u32 = 1 << 4;
const FPSCR_IDC: u32 = 1 << 7;
const FPSCR_FZ: u32 = 1 << 24;
const FPSCR_DN: u32 = 1 << 25;
const SIGN: u32 = 0x8000_0000;
const SMALLEST_NORMAL: u32 = 0x0080_0000;
const HALF_QUIET: u16 = 0x0200;
const DEFAULT_HALF_NAN: u16 = 0x7E00;

/// A result and the cumulative flags that it raises, at their places in FPSCR.
type Flagged<T> = (T, u32);

/// FPSCR's modes.
#[derive(Clone, Copy)]
pub struct Environment {
    round: Round,
    flush_to_zero: bool,
    pub default_nan: bool,
}

fn single(bits: u32) -> Single {
    Single::from_bits(bits.into())
}

/// APFloat's status bits have FPSCR's order.
fn flags(status: Status) -> u32 {
    status.bits().into()
}

fn is_subnormal(bits: u32) -> bool {
    let magnitude = bits & !SIGN;
    magnitude != 0 && magnitude < SMALLEST_NORMAL
}

impl Environment {
    pub fn of(fpscr: u32) -> Environment {
        let round = match fpscr >> 22 & 3 {
            0 => Round::NearestTiesToEven,
            1 => Round::TowardPositive,
            2 => Round::TowardNegative,
            _ => Round::TowardZero,
        };
        Environment {
            round,
            flush_to_zero: fpscr & FPSCR_FZ != 0,
            default_nan: fpscr & FPSCR_DN != 0,
        }
    }

    pub fn truncating(self) -> Environment {
        Environment {
            round: Round::TowardZero,
            ..self
        }
    }

    /// `FPUnpack`'s treatment of subnormal operands.
    pub fn flush_operand(self, bits: u32) -> Flagged<u32> {
        if self.flush_to_zero && is_subnormal(bits) {
            (bits & SIGN, FPSCR_IDC)
        } else {
            (bits, 0)
        }
    }

    pub fn add(self, a: u32, b: u32) -> Flagged<u32> {
        self.rounded(|round| single(a).add_r(single(b), round))
    }

    pub fn multiply(self, a: u32, b: u32) -> Flagged<u32> {
        self.rounded(|round| single(a).mul_r(single(b), round))
    }

    pub fn divide(self, a: u32, b: u32) -> Flagged<u32> {
        self.rounded(|round| single(a).div_r(single(b), round))
    }

    pub fn multiply_add(self, addend: u32, a: u32, b: u32) -> Flagged<u32> {
        self.rounded(|round| single(a).mul_add_r(single(b), single(addend), round))
    }

    pub fn from_integer(self, value: i64) -> Flagged<u32> {
        self.rounded(|round| Single::from_i128_r(value.into(), round))
    }

    /// A result is tiny if it is so before rounding, that is, when truncated.
    fn rounded(self, operation: impl Fn(Round) -> StatusAnd<Single>) -> Flagged<u32> {
        let StatusAnd { status, value } = operation(self.round);
        let result = value.to_bits() as u32;
        let mut flags = flags(status);
        if result & !SIGN <= SMALLEST_NORMAL {
            let truncated = operation(Round::TowardZero);
            let inexact = truncated.status.contains(Status::INEXACT);
            let bits = truncated.value.to_bits() as u32;
            let tiny = is_subnormal(bits) || bits & !SIGN == 0 && inexact;
            if tiny && self.flush_to_zero {
                return (bits & SIGN, FPSCR_UFC);
            }
            flags |= if tiny && inexact { FPSCR_UFC } else { 0 };
        }
        (result, flags)
    }

    /// The host's root is the nearest; its square, exact in double precision, tells on which side it lies.
    pub fn square_root(self, bits: u32) -> Flagged<u32> {
        let operand = f32::from_bits(bits);
        if operand < 0.0 {
            return (f32::NAN.to_bits(), FPSCR_IOC);
        }
        let root = operand.sqrt();
        let square = f64::from(root) * f64::from(root);
        if operand.is_infinite() || square == f64::from(operand) {
            return (root.to_bits(), 0);
        }
        let below = square < f64::from(operand);
        let result = match self.round {
            Round::TowardPositive if below => root.to_bits() + 1,
            Round::TowardNegative | Round::TowardZero if !below => root.to_bits() - 1,
            _ => root.to_bits(),
        };
        (result, FPSCR_IXC)
    }

    /// `FPToFixed`: saturates, which is invalid; NaN gives 0. Scaling by a power of two is exact in double precision.
    pub fn to_fixed(self, bits: u32, fraction_bits: u8, signed: bool, width: u32) -> Flagged<u32> {
        let value = f64::from(f32::from_bits(bits)) * f64::from(2f32.powi(fraction_bits.into()));
        let rounded = match self.round {
            Round::TowardPositive => value.ceil(),
            Round::TowardNegative => value.floor(),
            Round::TowardZero => value.trunc(),
            _ => value.round_ties_even(),
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

    /// Exact, except that signalling NaNs become quiet.
    pub fn from_half(self, bits: u16) -> Flagged<u32> {
        let half = Half::from_bits(bits.into());
        let invalid = if half.is_signaling() { FPSCR_IOC } else { 0 };
        if half.is_nan() {
            let bits = if self.default_nan {
                DEFAULT_HALF_NAN
            } else {
                bits | HALF_QUIET
            };
            return (widen_nan(bits), invalid);
        }
        let converted: StatusAnd<Single> = half.convert_r(self.round, &mut false);
        (converted.value.to_bits() as u32, 0)
    }

    pub fn to_half(self, bits: u32) -> Flagged<u16> {
        let value = single(bits);
        if value.is_nan() {
            let invalid = if value.is_signaling() { FPSCR_IOC } else { 0 };
            return (
                if self.default_nan {
                    DEFAULT_HALF_NAN
                } else {
                    narrow_nan(bits)
                },
                invalid,
            );
        }
        let convert = |round| -> StatusAnd<Half> { value.convert_r(round, &mut false) };
        let converted = convert(self.round);
        let mut flags = flags(converted.status);
        let truncated = convert(Round::TowardZero);
        let subnormal = truncated.value.to_bits() as u16 & 0x7C00 == 0;
        if subnormal && truncated.status.contains(Status::INEXACT) {
            flags |= FPSCR_UFC;
        }
        (converted.value.to_bits() as u16, flags)
    }
}

/// A NaN keeps its sign and the top of its payload.
fn widen_nan(half: u16) -> u32 {
    u32::from(half & 0x8000) << 16 | 0x7F80_0000 | u32::from(half & 0x3FF) << 13
}

fn narrow_nan(bits: u32) -> u16 {
    (bits >> 16) as u16 & 0x8000 | 0x7C00 | HALF_QUIET | (bits >> 13) as u16 & 0x1FF
}

/// `FixedToFP`, to nearest whatever the mode: a fixed-point number is exact in double precision, so that narrowing is the
/// only rounding.
pub fn from_fixed(bits: u32, fraction_bits: u8, signed: bool, width: u32, fpscr: &mut u32) -> u32 {
    let integer = match (signed, width) {
        (true, 32) => i64::from(bits as i32),
        (true, _) => i64::from(bits as i16),
        (false, 32) => i64::from(bits),
        (false, _) => i64::from(bits as u16),
    };
    let exact = integer as f64 / f64::from(2f32.powi(fraction_bits.into()));
    let result = exact as f32;
    if f64::from(result) != exact {
        *fpscr |= FPSCR_IXC;
    }
    result.to_bits()
}
