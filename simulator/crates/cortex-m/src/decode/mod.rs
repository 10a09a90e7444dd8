//! Decoding: turns an opcode into an [`Op`], by tables of patterns (DDI 0403E, A5 and A7).
//!
//! Each group of instructions has its rows in a file. The first row that matches wins, so special
//! cases stand above the general one: `Rd` = 15 is a comparison, `Ra` = 15 a plain multiply.

mod branch;
mod data_processing;
mod fast_forms;
mod float;
mod instruction_sets;
mod media;
mod memory;
mod multiple;
mod multiply;
mod op;
mod system;
mod unpredictable;

pub use fast_forms::Form;
pub use instruction_sets::{decode_for, encodings_of, unpredictable_on};
pub use op::*;
pub use unpredictable::misplaced_in_it;
use unpredictable::unpredictable;

/// What the pattern of an encoding does not say.
type Step = fn(op: &mut Op, opcode: u32, address: u32);

/// One encoding: which opcodes it covers, its name in the manual, and how to read its operands.
pub struct Row {
    pattern: &'static str,
    mask: u32,
    value: u32,
    name: &'static str,
    kind: Kind,
    steps: &'static [Step],
}

/// Rows of `pattern name kind, step…;`.
macro_rules! rows {
    ($($pattern:literal $name:literal $kind:expr $(, $step:expr)*;)*) => {
        &[$({
            let (mask, value) = super::fixed_bits($pattern);
            super::Row { pattern: $pattern, mask, value, name: $name, kind: $kind, steps: &[$($step),*] }
        }),*]
    };
}
use rows;

/// Mask and value of a pattern, which has a character for each bit from the highest on.
const fn fixed_bits(pattern: &str) -> (u32, u32) {
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
    fn read(&self, opcode: u32, address: u32) -> Op {
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

/// The 16-bit encodings.
const NARROW: &[&[Row]] = &[
    data_processing::NARROW,
    memory::NARROW,
    branch::NARROW,
    multiple::NARROW,
    multiply::NARROW,
    media::NARROW,
    system::NARROW,
];

/// The 32-bit encodings. The first halfword is the upper half.
const WIDE: &[&[Row]] = &[
    data_processing::WIDE,
    multiple::WIDE,
    memory::WIDE,
    branch::WIDE,
    multiply::WIDE,
    media::WIDE,
    system::WIDE,
    float::WIDE,
];

/// Whether the halfword begins a 32-bit instruction (A5.1).
pub fn is_wide(halfword: u16) -> bool {
    halfword >= 0xE800
}

/// The manual's name of the encoding of `opcode`. `None` if it is undefined or not modelled.
pub fn encoding_name(opcode: u32, wide: bool) -> Option<&'static str> {
    find(opcode, wide).map(|row| row.name)
}

/// A row of the tables, for other modules. If two rows fit an opcode, the first one describes it.
#[derive(Clone, Copy, Debug)]
pub struct Encoding {
    pub name: &'static str,
    pub wide: bool,
    pub mask: u32,
    pub value: u32,
}

/// All encodings of the tables, in the order in which they are searched.
pub fn encodings() -> impl Iterator<Item = Encoding> {
    let narrow = NARROW.iter().map(|table| (false, table));
    let wide = WIDE.iter().map(|table| (true, table));
    narrow.chain(wide).flat_map(|(wide, table)| {
        table.iter().map(move |row| Encoding {
            name: row.name,
            wide,
            mask: row.mask,
            value: row.value,
        })
    })
}

/// The row that describes `opcode`.
fn find(opcode: u32, wide: bool) -> Option<&'static Row> {
    let tables = if wide { WIDE } else { NARROW };
    tables
        .iter()
        .flat_map(|table| table.iter())
        .find(|row| opcode & row.mask == row.value)
}

/// Decodes the `opcode` at `address`, which PC-relative operands need.
pub fn decode(opcode: u32, wide: bool, address: u32) -> Option<Op> {
    let mut op = match find(opcode, wide) {
        Some(row) => row.read(opcode, address),
        None if wide => system::absent_coprocessor(opcode, true)?,
        None => return None,
    };
    op.size = if wide { 4 } else { 2 };
    Some(op)
}

/// Bits `high..=low` of `opcode`.
const fn bits(opcode: u32, high: u32, low: u32) -> u32 {
    opcode >> low & ((1 << (high - low + 1)) - 1)
}

/// Bits `low+3..=low` of `opcode` as a register number.
const fn reg(opcode: u32, low: u32) -> u8 {
    (opcode >> low & 15) as u8
}

const fn bit(opcode: u32, n: u32) -> bool {
    opcode >> n & 1 != 0
}

/// `value`'s lowest `width` bits as a signed number.
const fn sign_extend(value: u32, width: u32) -> u32 {
    ((value << (32 - width)) as i32 >> (32 - width)) as u32
}

/// What reading the PC gives in the instruction at `address`, aligned to a word.
const fn aligned_pc(address: u32) -> u32 {
    address.wrapping_add(4) & !3
}

fn outside_it(op: &mut Op, _: u32, _: u32) {
    op.flags = SetFlags::OutsideIt;
}

fn pc_relative(op: &mut Op, _: u32, address: u32) {
    op.imm = op.imm.wrapping_add(aligned_pc(address));
}

/// Of SP alone, which no pattern shows.
fn from_sp(op: &mut Op, _: u32, _: u32) {
    op.n = 13;
}

/// An immediate of 16 bits, whose upper four are bits 19:16.
fn sixteen(op: &mut Op, opcode: u32, _: u32) {
    op.imm |= bits(opcode, 19, 16) << 12;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operand bits to try each row with. A special row above may take some of them.
    const FILLS: [u32; 6] = [
        0,
        u32::MAX,
        0x5555_5555,
        0xAAAA_AAAA,
        0x3333_3333,
        0x0123_4567,
    ];

    #[test]
    fn every_row_is_reachable() {
        for (tables, wide) in [(NARROW, false), (WIDE, true)] {
            for row in tables.iter().flat_map(|table| table.iter()) {
                let used = if wide { u32::MAX } else { 0xFFFF };
                assert_eq!(row.value & !row.mask, 0, "{}: value outside mask", row.name);
                let found = |fill: &u32| {
                    let first = find(row.value | fill & !row.mask & used, wide).unwrap();
                    (first.mask, first.value) == (row.mask, row.value)
                };
                assert!(
                    FILLS.iter().any(found),
                    "{} is hidden by the rows above it",
                    row.name
                );
            }
        }
    }

    #[test]
    fn double_precision_arithmetic_is_not_single() {
        assert_eq!(encoding_name(0xEE31_2A00, true), Some("VADD T2"));
        assert_eq!(encoding_name(0xEE31_2B00, true), None);
    }

    #[test]
    fn no_two_groups_claim_the_same_opcode() {
        for first in 0..=0xE7FFu32 {
            let claims = NARROW
                .iter()
                .filter(|t| t.iter().any(|r| first & r.mask == r.value))
                .count();
            assert!(claims <= 1, "{first:#06x} is claimed by {claims} groups");
        }
    }
}
