//! Branches and IT (A5.2.3, A5.2.5, A5.2.6, A5.3.4, A5.3.6).

use super::Branch::*;
use super::{bit, bits, low_reg, reg, row, sign_extend, Branch, Kind, Op, Row};

pub const NARROW: &[Row] = &[
    row(0xFF87, 0x4700, "BX T1", |o, _| Op {
        m: reg(o, 3),
        ..Op::new(Kind::Branch(Exchange))
    }),
    row(0xFF87, 0x4780, "BLX (register) T1", |o, _| Op {
        m: reg(o, 3),
        ..Op::new(Kind::Branch(LinkExchange))
    }),
    row(0xFD00, 0xB100, "CBZ T1", |o, address| {
        compare_zero(IfZero, o, address)
    }),
    row(0xFD00, 0xB900, "CBNZ T1", |o, address| {
        compare_zero(IfNotZero, o, address)
    }),
    // Conditions 1110 and 1111 are UDF and SVC.
    row(0xF800, 0xD000, "B T1", conditional),
    row(0xFC00, 0xD800, "B T1", conditional),
    row(0xFE00, 0xDC00, "B T1", conditional),
    row(0xF800, 0xE000, "B T2", |o, address| {
        to(Always, address, sign_extend(bits(o, 10, 0) << 1, 12))
    }),
    // A zero mask is a hint.
    row(0xFF08, 0xBF08, "IT T1", |o, _| it(o)),
    row(0xFF0C, 0xBF04, "IT T1", |o, _| it(o)),
    row(0xFF0E, 0xBF02, "IT T1", |o, _| it(o)),
    row(0xFF0F, 0xBF01, "IT T1", |o, _| it(o)),
];

pub const WIDE: &[Row] = &[
    row(0xFFF0FFF0, 0xE8D0F000, "TBB T1", |o, _| table(TableByte, o)),
    row(0xFFF0FFF0, 0xE8D0F010, "TBH T1", |o, _| table(TableHalf, o)),
    row(0xF800D000, 0xF0009000, "B T4", |o, address| {
        to(Always, address, offset_25(o))
    }),
    row(0xF800D000, 0xF000D000, "BL T1", |o, address| {
        to(Link, address, offset_25(o))
    }),
    // Conditions 111x encode the system instructions.
    row(0xFA00D000, 0xF0008000, "B T3", |o, address| {
        wide_conditional(o, address)
    }),
    row(0xFB00D000, 0xF2008000, "B T3", |o, address| {
        wide_conditional(o, address)
    }),
    row(0xFB80D000, 0xF3008000, "B T3", |o, address| {
        wide_conditional(o, address)
    }),
];

/// A branch by `offset` from the PC as the instruction reads it.
fn to(kind: Branch, address: u32, offset: u32) -> Op {
    Op {
        imm: address.wrapping_add(4).wrapping_add(offset),
        ..Op::new(Kind::Branch(kind))
    }
}

fn compare_zero(kind: Branch, o: u32, address: u32) -> Op {
    let offset = bits(o, 9, 9) << 6 | bits(o, 7, 3) << 1;
    Op {
        n: low_reg(o, 0),
        ..to(kind, address, offset)
    }
}

fn conditional(o: u32, address: u32) -> Op {
    let offset = sign_extend(bits(o, 7, 0) << 1, 9);
    Op {
        amount: bits(o, 11, 8) as u8,
        ..to(Conditional, address, offset)
    }
}

fn wide_conditional(o: u32, address: u32) -> Op {
    let offset = bits(o, 26, 26) << 20
        | bits(o, 11, 11) << 19
        | bits(o, 13, 13) << 18
        | bits(o, 21, 16) << 12
        | bits(o, 10, 0) << 1;
    Op {
        amount: bits(o, 25, 22) as u8,
        ..to(Conditional, address, sign_extend(offset, 21))
    }
}

/// S:I1:I2:imm10:imm11:0, where I = NOT(J EOR S).
fn offset_25(o: u32) -> u32 {
    let sign = bit(o, 26);
    let i1 = (bit(o, 13) == sign) as u32;
    let i2 = (bit(o, 11) == sign) as u32;
    let offset =
        (sign as u32) << 24 | i1 << 23 | i2 << 22 | bits(o, 25, 16) << 12 | bits(o, 10, 0) << 1;
    sign_extend(offset, 25)
}

fn table(kind: Branch, o: u32) -> Op {
    Op {
        n: reg(o, 16),
        m: reg(o, 0),
        ..Op::new(Kind::Branch(kind))
    }
}

fn it(o: u32) -> Op {
    Op {
        imm: bits(o, 7, 0),
        ..Op::new(Kind::Branch(It))
    }
}
