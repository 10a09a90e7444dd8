//! Packed addition and subtraction (A5.3.13–A5.3.14): SADD16, UQSUB8, SHASX and others.

use super::arithmetic::{saturate_signed, saturate_unsigned};
use crate::decode::Op;
use crate::registers::Registers;

/// Bits 6:4 of the opcode.
#[derive(Clone, Copy)]
struct Flavour {
    unsigned: bool,
    saturating: bool,
    halving: bool,
}

impl Flavour {
    fn from_bits(bits: u32) -> Flavour {
        Flavour {
            unsigned: bits & 4 != 0,
            saturating: bits & 3 == 1,
            halving: bits & 3 == 2,
        }
    }

    fn finish(self, value: i32, bits: u32) -> u32 {
        let value = i64::from(value);
        let result = match (self.saturating, self.halving, self.unsigned) {
            (true, _, true) => saturate_unsigned(value, bits).0,
            (true, _, false) => saturate_signed(value, bits).0,
            (_, true, _) => value >> 1,
            _ => value,
        };
        result as u32 & ((1 << bits) - 1)
    }

    /// GE of a lane. Signed: the result is not negative. Unsigned: an addition carries, or a
    /// subtraction does not borrow.
    fn ge(self, value: i32, bits: u32, subtract: bool) -> bool {
        if self.unsigned && !subtract {
            value >= 1 << bits
        } else {
            value >= 0
        }
    }
}

fn lane(value: u32, index: u32, bits: u32, unsigned: bool) -> i32 {
    let shifted = value >> (index * bits) << (32 - bits);
    if unsigned {
        (shifted >> (32 - bits)) as i32
    } else {
        shifted as i32 >> (32 - bits)
    }
}

/// Bits of a lane; a bit for each lane that subtracts; whether n's lanes pair with m's other ones.
fn shape(operation: u8) -> (u32, u8, bool) {
    match operation {
        0 => (8, 0b0000, false),
        1 => (16, 0b00, false),
        2 => (16, 0b01, true),
        4 => (8, 0b1111, false),
        5 => (16, 0b11, false),
        _ => (16, 0b10, true),
    }
}

impl Registers {
    pub fn packed(&mut self, op: &Op, n: u32, m: u32) -> u32 {
        let flavour = Flavour::from_bits(op.imm);
        let (bits, subtracting, exchange) = shape(op.amount);
        let m = if exchange { m.rotate_right(16) } else { m };
        let (mut result, mut ge) = (0, 0);
        for index in 0..32 / bits {
            let subtract = subtracting >> index & 1 != 0;
            let a = lane(n, index, bits, flavour.unsigned);
            let b = lane(m, index, bits, flavour.unsigned);
            let value = if subtract { a - b } else { a + b };
            result |= flavour.finish(value, bits) << (index * bits);
            let lane_ge = if bits == 16 { 0b11 } else { 0b1 };
            ge |= (flavour.ge(value, bits, subtract) as u8 * lane_ge) << (index * bits / 8);
        }
        if !flavour.saturating && !flavour.halving {
            self.flags.ge = ge;
        }
        result
    }
}
