//! Loads and stores of several registers (A5.2.5, A5.2.6, A5.3.5).

use super::Multiple::*;
use super::{bit, bits, low_reg, reg, row, Index, Kind, Multiple, Op, Row};

pub const NARROW: &[Row] = &[
    row(0xFE00, 0xB400, "PUSH T1", |o, _| {
        stack(StoreDecrementBefore, bits(o, 7, 0) | bits(o, 8, 8) << 14)
    }),
    row(0xFE00, 0xBC00, "POP T1", |o, _| {
        stack(LoadIncrementAfter, bits(o, 7, 0) | bits(o, 8, 8) << 15)
    }),
    row(0xF800, 0xC000, "STM T1", |o, _| {
        multiple(
            StoreIncrementAfter,
            low_reg(o, 8),
            bits(o, 7, 0),
            Index::Pre,
        )
    }),
    // A base in the list is loaded, not updated.
    row(0xF800, 0xC800, "LDM T1", |o, _| {
        let index = if bit(o, bits(o, 10, 8)) {
            Index::Offset
        } else {
            Index::Pre
        };
        multiple(LoadIncrementAfter, low_reg(o, 8), bits(o, 7, 0), index)
    }),
];

pub const WIDE: &[Row] = &[
    row(0xFFD0A000, 0xE8800000, "STM T2", |o, _| {
        wide(StoreIncrementAfter, o)
    }),
    row(0xFFD02000, 0xE8900000, "LDM T2, POP T2", |o, _| {
        wide(LoadIncrementAfter, o)
    }),
    row(0xFFD0A000, 0xE9000000, "STMDB T1, PUSH T2", |o, _| {
        wide(StoreDecrementBefore, o)
    }),
    row(0xFFD02000, 0xE9100000, "LDMDB T1", |o, _| {
        wide(LoadDecrementBefore, o)
    }),
];

fn stack(kind: Multiple, list: u32) -> Op {
    multiple(kind, 13, list, Index::Pre)
}

fn wide(kind: Multiple, o: u32) -> Op {
    let index = if bit(o, 21) {
        Index::Pre
    } else {
        Index::Offset
    };
    multiple(kind, reg(o, 16), bits(o, 15, 0), index)
}

fn multiple(kind: Multiple, base: u8, list: u32, index: Index) -> Op {
    Op {
        n: base,
        imm: list,
        amount: list.count_ones() as u8,
        index,
        ..Op::new(Kind::Multiple(kind))
    }
}
