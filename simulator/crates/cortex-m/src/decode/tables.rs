//! The tables of all groups, and how they are searched.

use super::op::Op;
use super::row::Row;
use super::{branch, data_processing, float, media, memory, multiple, multiply, system};

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
