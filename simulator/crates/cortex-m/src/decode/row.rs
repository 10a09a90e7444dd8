//! One encoding: which opcodes it covers, and how its operands are read.

use super::op::{decode_shift, Index, Kind, Op, SetFlags};

/// What the pattern of an encoding does not say.
pub type Step = fn(op: &mut Op, opcode: u32, address: u32);

/// One encoding: which opcodes it covers, its name in the manual, and how to read its operands.
pub struct Row {
    pub pattern: &'static str,
    pub mask: u32,
    pub value: u32,
    pub name: &'static str,
    pub kind: Kind,
    pub steps: &'static [Step],
}

/// Rows of `pattern name kind, step…;`.
macro_rules! rows {
    ($($pattern:literal $name:literal $kind:expr $(, $step:expr)*;)*) => {
        &[$({
            let (mask, value) = $crate::decode::row::fixed_bits($pattern);
            $crate::decode::row::Row { pattern: $pattern, mask, value, name: $name, kind: $kind, steps: &[$($step),*] }
        }),*]
    };
}
pub(crate) use rows;

/// Mask and value of a pattern, which has a character for each bit from the highest on.
pub const fn fixed_bits(pattern: &str) -> (u32, u32) {
    let (mut mask, mut value, mut bits, mut i) = (0, 0, 0, 0);
    while i < pattern.len() {
        let character = pattern.as_bytes()[i];
        if character != b' ' {
            assert!(is_letter(character), "no pattern has such a letter");
            mask = mask << 1 | matches!(character, b'0' | b'1') as u32;
            value = value << 1 | (character == b'1') as u32;
            bits += 1;
        }
        i += 1;
    }
    assert!(bits == 16 || bits == 32, "an instruction has 16 or 32 bits");
    (mask, value)
}

const fn is_letter(character: u8) -> bool {
    matches!(
        character,
        b'0' | b'1' | b'-' | b'd' | b'n' | b'm' | b'a' | b'x'
    ) || matches!(
        character,
        b'D' | b'N' | b'M' | b'i' | b'h' | b'w' | b's' | b't' | b'T'
    ) || matches!(character, b'S' | b'U' | b'P' | b'W')
}

impl Row {
    /// The operation, with the operands that the pattern's letters name.
    ///
    /// | letter | bits of |
    /// |---|---|
    /// | `d`, `n`, `m`, `a` | a register |
    /// | `D`, `N`, `M` | the lowest bit of the number of an S register, wherever it stands |
    /// | `x` | Rdn, which is `d` and `n` |
    /// | `i`, `h`, `w` | `imm` in bytes, halfwords, words |
    /// | `s` | `amount` |
    /// | `t`, `T` | the type of a shift by `amount`; its upper bit alone |
    /// | `S` | whether the flags are set |
    /// | `U` | whether `imm` is added to the base, or subtracted |
    /// | `P`, `W` | whether that is before the access, and written back |
    /// | `-` | what a step reads, or nothing |
    pub fn read(&self, opcode: u32, address: u32) -> Op {
        let (mut fields, mut letters) = ([0; 128], 0u128);
        let mut left = if self.value > 0xFFFF {
            opcode
        } else {
            opcode << 16
        };
        for letter in self.pattern.bytes().filter(|&letter| letter != b' ') {
            let field = &mut fields[usize::from(letter)];
            *field = *field << 1 | left >> 31;
            left <<= 1;
            letters |= 1 << letter;
        }
        let field = |letter: u8| fields[usize::from(letter)];
        let has = |letter: u8| letters >> letter & 1 != 0;
        let register = |name: u8, low: u8| (field(name) << has(low) as u32 | field(low)) as u8;
        let imm = field(b'i') | field(b'h') << 1 | field(b'w') << 2;
        let mut op = Op {
            d: register(b'd', b'D') | field(b'x') as u8,
            n: register(b'n', b'N') | field(b'x') as u8,
            m: register(b'm', b'M'),
            a: field(b'a') as u8,
            imm: if has(b'U') && field(b'U') == 0 {
                imm.wrapping_neg()
            } else {
                imm
            },
            amount: field(b's') as u8,
            ..Op::new(self.kind)
        };
        if has(b't') || has(b'T') {
            let shift = field(b't') | field(b'T') << 1;
            (op.shift, op.amount) = decode_shift(shift, field(b's'));
        }
        if field(b'S') != 0 {
            op.flags = SetFlags::Always;
        }
        op.index = match (!has(b'P') || field(b'P') != 0, field(b'W') != 0) {
            (true, false) => Index::Offset,
            (true, true) => Index::Pre,
            (false, _) => Index::Post,
        };
        for step in self.steps {
            step(&mut op, opcode, address);
        }
        op
    }
}

/// Bits `high..=low` of `opcode`.
pub const fn bits(opcode: u32, high: u32, low: u32) -> u32 {
    opcode >> low & ((1 << (high - low + 1)) - 1)
}

/// Bits `low+3..=low` of `opcode` as a register number.
pub const fn reg(opcode: u32, low: u32) -> u8 {
    (opcode >> low & 15) as u8
}

pub const fn bit(opcode: u32, n: u32) -> bool {
    opcode >> n & 1 != 0
}

/// `value`'s lowest `width` bits as a signed number.
pub const fn sign_extend(value: u32, width: u32) -> u32 {
    ((value << (32 - width)) as i32 >> (32 - width)) as u32
}

/// What reading the PC gives in the instruction at `address`, aligned to a word.
pub const fn aligned_pc(address: u32) -> u32 {
    address.wrapping_add(4) & !3
}

pub fn outside_it(op: &mut Op, _: u32, _: u32) {
    op.flags = SetFlags::OutsideIt;
}

pub fn pc_relative(op: &mut Op, _: u32, address: u32) {
    op.imm = op.imm.wrapping_add(aligned_pc(address));
}

/// Of SP alone, which no pattern shows.
pub fn from_sp(op: &mut Op, _: u32, _: u32) {
    op.n = 13;
}

/// An immediate of 16 bits, whose upper four are bits 19:16.
pub fn sixteen(op: &mut Op, opcode: u32, _: u32) {
    op.imm |= bits(opcode, 19, 16) << 12;
}
