//! Rounding to single and half precision, with FPSCR's modes and cumulative flags (`FPRound`,
//! A2.7).
//!
//! Operations are computed in double precision and rounded to odd. That is: truncated, and if
//! anything was lost, the lowest bit is set. Double precision has more than twice the bits of the
//! results here, and a larger range. Rounding again to the final format therefore gives the
//! correctly rounded result (Boldo and Melquiond, "When double rounding is odd", 2005).

/// The cumulative flags of FPSCR (A2.5.3).
pub const FPSCR_IOC: u32 = 1 << 0;
pub const FPSCR_DZC: u32 = 1 << 1;
const FPSCR_OFC: u32 = 1 << 2;
const FPSCR_UFC: u32 = 1 << 3;
pub const FPSCR_IXC: u32 = 1 << 4;
pub const FPSCR_IDC: u32 = 1 << 7;
const FPSCR_FZ: u32 = 1 << 24;
const FPSCR_DN: u32 = 1 << 25;
const FPSCR_AHP: u32 = 1 << 26;

/// A result and its cumulative flags, as bits of FPSCR.
pub type Flagged<T> = (T, u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    Nearest,
    Up,
    Down,
    Zero,
}

/// FPSCR's modes.
#[derive(Clone, Copy)]
pub struct Environment {
    pub round: Round,
    pub flush_to_zero: bool,
    pub default_nan: bool,
    pub alternative_half: bool,
}

/// An IEEE 754 format narrower than double precision.
#[derive(Clone, Copy)]
struct Format {
    exponent_bits: u32,
    fraction_bits: u32,
}

const SINGLE: Format = Format {
    exponent_bits: 8,
    fraction_bits: 23,
};
const HALF: Format = Format {
    exponent_bits: 5,
    fraction_bits: 10,
};

impl Format {
    fn smallest_exponent(self) -> i32 {
        2 - (1 << (self.exponent_bits - 1))
    }

    fn sign(self, negative: bool) -> u32 {
        (negative as u32) << (self.exponent_bits + self.fraction_bits)
    }

    fn infinity(self) -> u32 {
        ((1 << self.exponent_bits) - 1) << self.fraction_bits
    }
}

impl Round {
    /// Whether the magnitude `kept` is rounded up. `lost` of `unit` was cut off.
    fn away(self, negative: bool, kept: u64, lost: u64, unit: u64) -> bool {
        match self {
            Round::Nearest => lost > unit / 2 || lost == unit / 2 && kept & 1 != 0,
            Round::Up => lost != 0 && !negative,
            Round::Down => lost != 0 && negative,
            Round::Zero => false,
        }
    }

    fn overflows_to_infinity(self, negative: bool) -> bool {
        match self {
            Round::Nearest => true,
            Round::Up => !negative,
            Round::Down => negative,
            Round::Zero => false,
        }
    }
}

impl Environment {
    pub fn of(fpscr: u32) -> Environment {
        let round = match fpscr >> 22 & 3 {
            0 => Round::Nearest,
            1 => Round::Up,
            2 => Round::Down,
            _ => Round::Zero,
        };
        Environment {
            round,
            flush_to_zero: fpscr & FPSCR_FZ != 0,
            default_nan: fpscr & FPSCR_DN != 0,
            alternative_half: fpscr & FPSCR_AHP != 0,
        }
    }

    pub fn with(self, round: Round) -> Environment {
        Environment { round, ..self }
    }

    /// Rounds `odd` to single precision. It is a number, zero or infinity, rounded to odd.
    pub fn to_single(self, odd: f64) -> Flagged<u32> {
        if odd == 0.0 || odd.is_infinite() {
            return ((odd as f32).to_bits(), 0);
        }
        if self.flush_to_zero && exponent(odd) < SINGLE.smallest_exponent() {
            return (SINGLE.sign(odd < 0.0), FPSCR_UFC);
        }
        self.to_format(odd, SINGLE)
    }

    /// Rounds a number, zero or infinity to half precision. The alternative format has no infinity:
    /// too large values saturate.
    pub fn to_half(self, value: f64) -> Flagged<u16> {
        let negative = value.is_sign_negative();
        if value == 0.0 {
            return (HALF.sign(negative) as u16, 0);
        }
        if value.is_infinite() && !self.alternative_half {
            return ((HALF.sign(negative) | HALF.infinity()) as u16, 0);
        }
        if self.alternative_half && (value.is_infinite() || exponent(value) > 16) {
            return ((HALF.sign(negative) | 0x7FFF) as u16, FPSCR_IOC);
        }
        let (bits, flags) = self.to_format(value, HALF);
        (bits as u16, flags)
    }

    fn to_format(self, odd: f64, format: Format) -> Flagged<u32> {
        let negative = odd < 0.0;
        let below_normal = (format.smallest_exponent() - exponent(odd)).max(0) as u32;
        let cut = (52 - format.fraction_bits + below_normal).min(63);
        let mantissa = odd.to_bits() & ((1 << 52) - 1) | 1 << 52;
        let (kept, lost, unit) = (mantissa >> cut, mantissa & ((1 << cut) - 1), 1 << cut);
        let rounded = kept + self.round.away(negative, kept, lost, unit) as u64;
        // A subnormal has biased exponent 0. Adding the mantissa carries its hidden bit into the
        // exponent.
        let exponent_below = if below_normal > 0 {
            0
        } else {
            (exponent(odd) - format.smallest_exponent()) as u32
        };
        let magnitude = ((exponent_below as u64) << format.fraction_bits) + rounded;
        let inexact = if lost != 0 { FPSCR_IXC } else { 0 };
        let underflow = if below_normal > 0 && lost != 0 {
            FPSCR_UFC
        } else {
            0
        };
        let limit = u64::from(format.infinity());
        if format.fraction_bits == HALF.fraction_bits && self.alternative_half {
            return saturated_half(negative, magnitude, inexact | underflow);
        }
        if magnitude >= limit {
            let largest = !self.round.overflows_to_infinity(negative) as u32;
            return (
                format.sign(negative) | (format.infinity() - largest),
                FPSCR_OFC | FPSCR_IXC,
            );
        }
        (
            format.sign(negative) | magnitude as u32,
            inexact | underflow,
        )
    }
}

fn saturated_half(negative: bool, magnitude: u64, flags: u32) -> Flagged<u32> {
    if magnitude > 0x7FFF {
        (HALF.sign(negative) | 0x7FFF, FPSCR_IOC)
    } else {
        (HALF.sign(negative) | magnitude as u32, flags)
    }
}

/// The exponent of a normal number.
fn exponent(value: f64) -> i32 {
    (value.to_bits() >> 52 & 0x7FF) as i32 - 1023
}

/// Turns `nearest`, which is rounded to nearest, into the result rounded to odd. `error` has the
/// sign of the exact value minus `nearest`.
fn to_odd(nearest: f64, error: f64) -> f64 {
    if error == 0.0 || !nearest.is_finite() {
        return nearest;
    }
    let beyond = (error < 0.0) != (nearest < 0.0);
    f64::from_bits((nearest.to_bits() - beyond as u64) | 1)
}

/// The sum, rounded to odd. The error of the nearest sum is exact (Knuth's TwoSum).
pub fn add(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    to_odd(sum, error)
}

/// The quotient, rounded to odd. A fused operation gives the exact remainder. Its sign times the
/// divisor's is that of the error.
pub fn divide(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    if b == 0.0 || b.is_infinite() {
        return quotient;
    }
    let remainder = (-quotient).mul_add(b, a);
    to_odd(quotient, if b < 0.0 { -remainder } else { remainder })
}

/// The root, rounded to odd.
pub fn square_root(value: f64) -> f64 {
    let root = value.sqrt();
    to_odd(root, (-root).mul_add(root, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(round: Round) -> Environment {
        Environment::of(0).with(round)
    }

    #[test]
    fn nearest_is_the_host_s_rounding() {
        for value in [
            1.0 / 3.0,
            1e-40,
            3.4e38,
            1e-45,
            0.7e-45,
            2f64.powi(-149) * 1.5,
            -2f64.powi(-126) * 0.999_999_99,
        ] {
            assert_eq!(
                environment(Round::Nearest).to_single(value).0,
                (value as f32).to_bits(),
                "{value:e}"
            );
        }
    }

    #[test]
    fn overflow_depends_on_the_mode() {
        let largest = f32::MAX.to_bits();
        let infinity = f32::INFINITY.to_bits();
        for (round, expected) in [
            (Round::Nearest, infinity),
            (Round::Up, infinity),
            (Round::Down, largest),
            (Round::Zero, largest),
        ] {
            assert_eq!(
                environment(round).to_single(1e39),
                (expected, FPSCR_OFC | FPSCR_IXC),
                "{round:?}"
            );
        }
    }

    #[test]
    fn what_rounds_up_to_normal_was_tiny_before() {
        let value = 2f64.powi(-126) * (1.0 - 2f64.powi(-30));
        let (bits, flags) = environment(Round::Nearest).to_single(value);
        assert_eq!((bits, flags), (0x0080_0000, FPSCR_UFC | FPSCR_IXC));
    }

    #[test]
    fn odd_results_lie_on_the_exact_value_s_side() {
        let third = divide(1.0, 3.0);
        assert_eq!(third.to_bits() & 1, 1);
        assert!((-third).mul_add(3.0, 1.0).abs() < 1e-15);
        assert_eq!(add(1.0, 2f64.powi(-100)).to_bits(), 1f64.to_bits() | 1);
        assert_eq!(add(1.0, -2f64.powi(-100)).to_bits(), 1f64.to_bits() - 1);
        assert_eq!(add(1.0, 2.0), 3.0);
    }
}
