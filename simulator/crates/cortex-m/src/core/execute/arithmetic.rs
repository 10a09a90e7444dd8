//! Addition with carry, shifts and saturation (A2.2.1).

use crate::decode::Shift;

/// Sum, carry and overflow.
#[inline(always)]
pub fn add_with_carry(a: u32, b: u32, carry: bool) -> (u32, bool, bool) {
    let (partial, carry_1) = a.overflowing_add(b);
    let (sum, carry_2) = partial.overflowing_add(carry.into());
    let overflow = (a ^ sum) & (b ^ sum) & 0x8000_0000 != 0;
    (sum, carry_1 | carry_2, overflow)
}

/// `Shift_C`: the shifted value and the carry. `amount` may exceed 32.
#[inline(always)]
pub fn shift_with_carry(value: u32, shift: Shift, amount: u32, carry: bool) -> (u32, bool) {
    if amount == 0 {
        return (value, carry);
    }
    match shift {
        Shift::Lsl => {
            let wide = if amount > 32 {
                0
            } else {
                u64::from(value) << amount
            };
            (wide as u32, wide >> 32 & 1 != 0)
        }
        Shift::Lsr => {
            let wide = if amount > 32 {
                0
            } else {
                u64::from(value) << 32 >> amount
            };
            ((wide >> 32) as u32, wide >> 31 & 1 != 0)
        }
        Shift::Asr => {
            let wide = (i64::from(value as i32) << 32) >> amount.min(32);
            ((wide >> 32) as u32, wide >> 31 & 1 != 0)
        }
        Shift::Ror => {
            let result = value.rotate_right(amount % 32);
            (result, result >> 31 != 0)
        }
        Shift::Rrx => (value >> 1 | u32::from(carry) << 31, value & 1 != 0),
    }
}

/// `SignedSatQ`: `value` limited to `bits` bits, and whether that changed it.
pub fn saturate_signed(value: i64, bits: u32) -> (i64, bool) {
    let max = (1i64 << (bits - 1)) - 1;
    let result = value.clamp(-max - 1, max);
    (result, result != value)
}

/// `UnsignedSatQ`.
pub fn saturate_unsigned(value: i64, bits: u32) -> (i64, bool) {
    let result = value.clamp(0, (1i64 << bits) - 1);
    (result, result != value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_by_32_and_beyond() {
        assert_eq!(shift_with_carry(1, Shift::Lsl, 32, false), (0, true));
        assert_eq!(shift_with_carry(1, Shift::Lsl, 33, true), (0, false));
        assert_eq!(
            shift_with_carry(0x8000_0000, Shift::Lsr, 32, false),
            (0, true)
        );
        assert_eq!(
            shift_with_carry(0x8000_0000, Shift::Lsr, 33, true),
            (0, false)
        );
        assert_eq!(
            shift_with_carry(0x8000_0000, Shift::Asr, 200, false),
            (u32::MAX, true)
        );
        assert_eq!(
            shift_with_carry(0x8000_0001, Shift::Ror, 32, false),
            (0x8000_0001, true)
        );
        assert_eq!(
            shift_with_carry(1, Shift::Rrx, 1, true),
            (0x8000_0000, true)
        );
    }

    #[test]
    fn carry_and_overflow_of_subtraction_through_zero() {
        assert_eq!(add_with_carry(5, !5, true), (0, true, false));
        assert_eq!(
            add_with_carry(0x8000_0000, !1, true),
            (0x7FFF_FFFF, true, true)
        );
        assert_eq!(add_with_carry(0, !1, true), (u32::MAX, false, false));
    }

    #[test]
    fn saturation_reports_itself() {
        assert_eq!(saturate_signed(128, 8), (127, true));
        assert_eq!(saturate_signed(-128, 8), (-128, false));
        assert_eq!(saturate_unsigned(-1, 8), (0, true));
        assert_eq!(saturate_unsigned(255, 8), (255, false));
    }
}
