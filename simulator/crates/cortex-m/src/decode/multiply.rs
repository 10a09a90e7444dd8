//! Multiplication and division (A5.3.16, A5.3.17).

use super::Multiply::*;
use super::{bits, low_reg, reg, row, Kind, Multiply, Op, Row, SetFlags};

pub const NARROW: &[Row] = &[row(0xFFC0, 0x4340, "MUL T1", |o, _| Op {
    d: low_reg(o, 0),
    n: low_reg(o, 3),
    m: low_reg(o, 0),
    flags: SetFlags::OutsideIt,
    ..Op::new(Kind::Multiply(Mul))
})];

pub const WIDE: &[Row] = &[
    row(0xFFF0F0F0, 0xFB00F000, "MUL T2", |o, _| product(Mul, o)),
    row(0xFFF000F0, 0xFB000000, "MLA T1", |o, _| product(Mla, o)),
    row(0xFFF000F0, 0xFB000010, "MLS T1", |o, _| product(Mls, o)),
    row(0xFFF000C0, 0xFB100000, "SMULxy, SMLAxy T1", |o, _| {
        halves(SmlaHalves, o)
    }),
    row(0xFFF000E0, 0xFB200000, "SMUAD, SMLAD T1", |o, _| {
        halves(Smlad, o)
    }),
    row(0xFFF000E0, 0xFB300000, "SMULWy, SMLAWy T1", |o, _| {
        halves(SmlaWide, o)
    }),
    row(0xFFF000E0, 0xFB400000, "SMUSD, SMLSD T1", |o, _| {
        halves(Smlsd, o)
    }),
    row(0xFFF000E0, 0xFB500000, "SMMUL, SMMLA T1", |o, _| {
        halves(Smmla, o)
    }),
    row(0xFFF000E0, 0xFB600000, "SMMLS T1", |o, _| halves(Smmls, o)),
    row(0xFFF000F0, 0xFB700000, "USAD8, USADA8 T1", |o, _| {
        product(Usada8, o)
    }),
    row(0xFFF000F0, 0xFB800000, "SMULL T1", |o, _| long(Smull, o)),
    row(0xFFF0F0F0, 0xFB90F0F0, "SDIV T1", |o, _| product(Sdiv, o)),
    row(0xFFF000F0, 0xFBA00000, "UMULL T1", |o, _| long(Umull, o)),
    row(0xFFF0F0F0, 0xFBB0F0F0, "UDIV T1", |o, _| product(Udiv, o)),
    row(0xFFF000F0, 0xFBC00000, "SMLAL T1", |o, _| long(Smlal, o)),
    row(0xFFF000C0, 0xFBC00080, "SMLALxy T1", |o, _| {
        long(SmlalHalves, o)
    }),
    row(0xFFF000E0, 0xFBC000C0, "SMLALD T1", |o, _| long(Smlald, o)),
    row(0xFFF000E0, 0xFBD000C0, "SMLSLD T1", |o, _| long(Smlsld, o)),
    row(0xFFF000F0, 0xFBE00000, "UMLAL T1", |o, _| long(Umlal, o)),
    row(0xFFF000F0, 0xFBE00060, "UMAAL T1", |o, _| long(Umaal, o)),
];

fn product(kind: Multiply, o: u32) -> Op {
    Op {
        d: reg(o, 8),
        n: reg(o, 16),
        m: reg(o, 0),
        a: reg(o, 12),
        ..Op::new(Kind::Multiply(kind))
    }
}

/// Products of halfwords: bits 5:4 choose halves, exchange or rounding.
fn halves(kind: Multiply, o: u32) -> Op {
    Op {
        amount: bits(o, 5, 4) as u8,
        ..product(kind, o)
    }
}

fn long(kind: Multiply, o: u32) -> Op {
    Op {
        d: reg(o, 12),
        a: reg(o, 8),
        ..halves(kind, o)
    }
}
