//! Bit fields, extensions, reversals and saturation.

use super::arithmetic::{saturate_signed, saturate_unsigned, shift_with_carry};
use crate::decode::{Media, Op};
use crate::registers::Registers;

/// Bytes 0 and 2, each extended to a halfword.
fn extend_pair(value: u32, extend: fn(u8) -> u16) -> (u16, u16) {
    (extend(value as u8), extend((value >> 16) as u8))
}

fn sign_extend_byte(byte: u8) -> u16 {
    byte as i8 as u16
}

fn pair(low: u16, high: u16) -> u32 {
    u32::from(high) << 16 | u32::from(low)
}

impl Registers {
    pub fn media(&mut self, op: &Op, media: Media) {
        let (n, m) = (self.get(op.n), self.get(op.m));
        let rotated = m.rotate_right(op.amount.into());
        let result = match media {
            Media::Movt => self.get(op.d) & 0xFFFF | op.imm << 16,
            Media::Sbfx => {
                ((n << (32 - op.imm - u32::from(op.amount))) as i32 >> (32 - op.imm)) as u32
            }
            Media::Ubfx => n << (32 - op.imm - u32::from(op.amount)) >> (32 - op.imm),
            Media::Bfi => insert_field(self.get(op.d), if op.n == 15 { 0 } else { n }, op),
            Media::Ssat | Media::Usat => self.saturate(op, media, n),
            Media::Ssat16 | Media::Usat16 => self.saturate_halves(op, media, n),
            Media::Sxtab => self.extend_base(op).wrapping_add(rotated as i8 as u32),
            Media::Uxtab => self.extend_base(op).wrapping_add(rotated & 0xFF),
            Media::Sxtah => self.extend_base(op).wrapping_add(rotated as i16 as u32),
            Media::Uxtah => self.extend_base(op).wrapping_add(rotated & 0xFFFF),
            Media::Sxtab16 => self.extend_halves(op, extend_pair(rotated, sign_extend_byte)),
            Media::Uxtab16 => self.extend_halves(op, extend_pair(rotated, u16::from)),
            Media::Pkhbt => {
                shift_with_carry(m, op.shift, op.amount.into(), false).0 & 0xFFFF_0000 | n & 0xFFFF
            }
            Media::Pkhtb => {
                shift_with_carry(m, op.shift, op.amount.into(), false).0 & 0xFFFF | n & 0xFFFF_0000
            }
            Media::Rev => m.swap_bytes(),
            Media::Rev16 => m.swap_bytes().rotate_right(16),
            Media::Revsh => (m as u16).swap_bytes() as i16 as u32,
            Media::Rbit => m.reverse_bits(),
            Media::Clz => m.leading_zeros(),
            Media::Sel => self.select(n, m),
            Media::Qadd => self.saturating_sum(m, n.into_signed(), 1),
            Media::Qsub => self.saturating_sum(m, n.into_signed(), -1),
            Media::Qdadd => self.saturating_double_sum(m, n, 1),
            Media::Qdsub => self.saturating_double_sum(m, n, -1),
            Media::Parallel => self.packed(op, n, m),
        };
        self.set(op.d, result);
    }

    /// n, or 0 in the forms that add nothing.
    fn extend_base(&self, op: &Op) -> u32 {
        if op.n == 15 {
            0
        } else {
            self.get(op.n)
        }
    }

    fn extend_halves(&self, op: &Op, (low, high): (u16, u16)) -> u32 {
        let base = self.extend_base(op);
        pair(
            (base as u16).wrapping_add(low),
            ((base >> 16) as u16).wrapping_add(high),
        )
    }

    fn saturate(&mut self, op: &Op, media: Media, n: u32) -> u32 {
        let value = shift_with_carry(n, op.shift, op.amount.into(), false)
            .0
            .into_signed();
        let (result, saturated) = match media {
            Media::Ssat => saturate_signed(value, op.imm),
            _ => saturate_unsigned(value, op.imm),
        };
        self.flags.q |= saturated;
        result as u32
    }

    fn saturate_halves(&mut self, op: &Op, media: Media, n: u32) -> u32 {
        let function = if media == Media::Ssat16 {
            saturate_signed
        } else {
            saturate_unsigned
        };
        let (low, low_saturated) = function((n as i16).into(), op.imm);
        let (high, high_saturated) = function(((n >> 16) as i16).into(), op.imm);
        self.flags.q |= low_saturated | high_saturated;
        pair(low as u16, high as u16)
    }

    /// Each byte of n if its GE flag is set, otherwise of m.
    fn select(&self, n: u32, m: u32) -> u32 {
        let mask: u32 = (0..4)
            .map(|byte| (u32::from(self.flags.ge >> byte & 1) * 0xFF) << (8 * byte))
            .sum();
        n & mask | m & !mask
    }

    fn saturating_sum(&mut self, a: u32, b: i64, sign: i64) -> u32 {
        let (result, saturated) = saturate_signed(a.into_signed() + sign * b, 32);
        self.flags.q |= saturated;
        result as u32
    }

    /// QDADD, QDSUB: doubling saturates too.
    fn saturating_double_sum(&mut self, a: u32, b: u32, sign: i64) -> u32 {
        let (doubled, saturated) = saturate_signed(2 * b.into_signed(), 32);
        self.flags.q |= saturated;
        self.saturating_sum(a, doubled, sign)
    }
}

/// BFI: puts `source` into bits `amount` to `imm` of `old`.
fn insert_field(old: u32, source: u32, op: &Op) -> u32 {
    let low = u32::from(op.amount);
    let mask = (u32::MAX >> (31 - op.imm)) & u32::MAX << low;
    old & !mask | source << low & mask
}

trait IntoSigned {
    /// The word as a signed number.
    fn into_signed(self) -> i64;
}

impl IntoSigned for u32 {
    fn into_signed(self) -> i64 {
        (self as i32).into()
    }
}
