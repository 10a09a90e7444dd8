//! Floating point (A6): FPv4-SP, which is single precision with transfers of double words.

use super::Float::*;
use super::{bit, bits, reg, row, Float, Index, Kind, Op, Row};

pub const WIDE: &[Row] = &[
    row(0xFFB00F50, 0xEE000A00, "VMLA T2", |o, _| three(Mla, o)),
    row(0xFFB00F50, 0xEE000A40, "VMLS T2", |o, _| three(Mls, o)),
    row(0xFFB00F50, 0xEE100A00, "VNMLS T1", |o, _| three(Nmls, o)),
    row(0xFFB00F50, 0xEE100A40, "VNMLA T1", |o, _| three(Nmla, o)),
    row(0xFFB00F50, 0xEE200A00, "VMUL T2", |o, _| three(Mul, o)),
    row(0xFFB00F50, 0xEE200A40, "VNMUL T2", |o, _| three(Nmul, o)),
    row(0xFFB00F50, 0xEE300A00, "VADD T2", |o, _| three(Add, o)),
    row(0xFFB00F50, 0xEE300A40, "VSUB T2", |o, _| three(Sub, o)),
    row(0xFFB00F50, 0xEE800A00, "VDIV T1", |o, _| three(Div, o)),
    row(0xFFB00F50, 0xEE900A00, "VFNMS T1", |o, _| three(Fnms, o)),
    row(0xFFB00F50, 0xEE900A40, "VFNMA T1", |o, _| three(Fnma, o)),
    row(0xFFB00F50, 0xEEA00A00, "VFMA T2", |o, _| three(Fma, o)),
    row(0xFFB00F50, 0xEEA00A40, "VFMS T2", |o, _| three(Fms, o)),
    row(0xFFB00FF0, 0xEEB00A00, "VMOV (immediate) T2", |o, _| Op {
        imm: expand_immediate(bits(o, 19, 16) << 4 | bits(o, 3, 0)),
        ..three(Immediate, o)
    }),
    row(0xFFBF0FD0, 0xEEB00A40, "VMOV (register) T2", |o, _| {
        three(Move, o)
    }),
    row(0xFFBF0FD0, 0xEEB00AC0, "VABS T2", |o, _| three(Abs, o)),
    row(0xFFBF0FD0, 0xEEB10A40, "VNEG T2", |o, _| three(Neg, o)),
    row(0xFFBF0FD0, 0xEEB10AC0, "VSQRT T1", |o, _| three(Sqrt, o)),
    row(
        0xFFBF0F50,
        0xEEB20A40,
        "VCVTB, VCVTT T1 (from half)",
        |o, _| Op {
            imm: bits(o, 7, 7),
            ..three(FromHalf, o)
        },
    ),
    row(
        0xFFBF0F50,
        0xEEB30A40,
        "VCVTB, VCVTT T1 (to half)",
        |o, _| Op {
            imm: bits(o, 7, 7),
            ..three(ToHalf, o)
        },
    ),
    row(0xFFBF0F50, 0xEEB40A40, "VCMP, VCMPE T1", |o, _| Op {
        imm: bits(o, 7, 7),
        ..three(Compare, o)
    }),
    row(0xFFBF0F50, 0xEEB50A40, "VCMP, VCMPE T2", |o, _| Op {
        imm: bits(o, 7, 7),
        ..three(CompareZero, o)
    }),
    row(0xFFBF0F50, 0xEEB80A40, "VCVT (from integer) T1", |o, _| {
        Op {
            imm: bits(o, 7, 7),
            ..three(FromInteger, o)
        }
    }),
    row(
        0xFFBE0F50,
        0xEEBC0A40,
        "VCVT, VCVTR (to integer) T1",
        |o, _| Op {
            imm: bits(o, 16, 16) | bits(o, 7, 7) << 1,
            ..three(ToInteger, o)
        },
    ),
    row(
        0xFFBE0F50,
        0xEEBA0A40,
        "VCVT (from fixed point) T1",
        |o, _| fixed(FromFixed, o),
    ),
    row(
        0xFFBE0F50,
        0xEEBE0A40,
        "VCVT (to fixed point) T1",
        |o, _| fixed(ToFixed, o),
    ),
    row(
        0xFFF00F7F,
        0xEE000A10,
        "VMOV (core to single) T1",
        |o, _| core_transfer(FromCore, o),
    ),
    row(
        0xFFF00F7F,
        0xEE100A10,
        "VMOV (single to core) T1",
        |o, _| core_transfer(ToCore, o),
    ),
    row(
        0xFFD00F7F,
        0xEE000B10,
        "VMOV (core to scalar) T1",
        |o, _| scalar_transfer(FromCore, o),
    ),
    row(
        0xFFD00F7F,
        0xEE100B10,
        "VMOV (scalar to core) T1",
        |o, _| scalar_transfer(ToCore, o),
    ),
    row(0xFFFF0FFF, 0xEEE10A10, "VMSR T1", |o, _| Op {
        a: reg(o, 12),
        ..Op::new(Kind::Float(ToFpscr))
    }),
    row(0xFFFF0FFF, 0xEEF10A10, "VMRS T1", |o, _| Op {
        a: reg(o, 12),
        ..Op::new(Kind::Float(FromFpscr))
    }),
    row(
        0xFFF00FD0,
        0xEC400A10,
        "VMOV (pair to singles) T1",
        |o, _| pair_transfer(FromCorePair, o),
    ),
    row(
        0xFFF00FD0,
        0xEC500A10,
        "VMOV (singles to pair) T1",
        |o, _| pair_transfer(ToCorePair, o),
    ),
    row(
        0xFFF00FF0,
        0xEC400B10,
        "VMOV (pair to double) T1",
        |o, _| pair_transfer(FromCorePair, o),
    ),
    row(
        0xFFF00FF0,
        0xEC500B10,
        "VMOV (double to pair) T1",
        |o, _| pair_transfer(ToCorePair, o),
    ),
    row(0xFF300E00, 0xED000A00, "VSTR", |o, _| {
        single_transfer(Store, o)
    }),
    row(0xFF300E00, 0xED100A00, "VLDR", |o, _| {
        single_transfer(Load, o)
    }),
    row(0xFF900E00, 0xEC800A00, "VSTM (increment after)", |o, _| {
        multiple(StoreMultiple, o)
    }),
    row(
        0xFF900E00,
        0xEC900A00,
        "VLDM (increment after), VPOP",
        |o, _| multiple(LoadMultiple, o),
    ),
    row(
        0xFFB00E00,
        0xED200A00,
        "VSTM (decrement before), VPUSH",
        |o, _| multiple(StoreMultiple, o),
    ),
    row(0xFFB00E00, 0xED300A00, "VLDM (decrement before)", |o, _| {
        multiple(LoadMultiple, o)
    }),
];

/// Vx:x, the number of a single-precision register.
fn single(o: u32, low: u32, extra: u32) -> u8 {
    reg(o, low) << 1 | bit(o, extra) as u8
}

/// The first S register of a transfer of D or S registers. FPv4-SP has no D registers above 15, so
/// bit 22 is only used as the low bit of an S register's number.
fn first_register(o: u32) -> u8 {
    if bit(o, 8) {
        reg(o, 12) << 1
    } else {
        single(o, 12, 22)
    }
}

fn three(kind: Float, o: u32) -> Op {
    Op {
        d: single(o, 12, 22),
        n: single(o, 16, 7),
        m: single(o, 0, 5),
        ..Op::new(Kind::Float(kind))
    }
}

/// `VFPExpandImm` (A6.4.1).
fn expand_immediate(imm8: u32) -> u32 {
    let exponent = if bit(imm8, 6) {
        0x3E00_0000
    } else {
        0x4000_0000
    };
    bits(imm8, 7, 7) << 31 | exponent | bits(imm8, 5, 0) << 19
}

/// Fraction bits = size − imm4:i.
fn fixed(kind: Float, o: u32) -> Op {
    let size = if bit(o, 7) { 32 } else { 16 };
    let below = bits(o, 3, 0) << 1 | bits(o, 5, 5);
    let signed = !bit(o, 16) as u32;
    Op {
        amount: size.max(below as u8) - below as u8,
        imm: signed | bits(o, 7, 7) << 1,
        ..three(kind, o)
    }
}

fn core_transfer(kind: Float, o: u32) -> Op {
    Op {
        a: reg(o, 12),
        n: single(o, 16, 7),
        ..Op::new(Kind::Float(kind))
    }
}

/// Bit 21 selects the half of the D register.
fn scalar_transfer(kind: Float, o: u32) -> Op {
    Op {
        a: reg(o, 12),
        n: reg(o, 16) << 1 | bit(o, 21) as u8,
        ..Op::new(Kind::Float(kind))
    }
}

fn pair_transfer(kind: Float, o: u32) -> Op {
    let m = if bit(o, 8) {
        reg(o, 0) << 1
    } else {
        single(o, 0, 5)
    };
    Op {
        a: reg(o, 12),
        n: reg(o, 16),
        m,
        ..Op::new(Kind::Float(kind))
    }
}

fn single_transfer(kind: Float, o: u32) -> Op {
    let offset = bits(o, 7, 0) << 2;
    Op {
        d: first_register(o),
        n: reg(o, 16),
        amount: if bit(o, 8) { 2 } else { 1 },
        imm: if bit(o, 23) {
            offset
        } else {
            offset.wrapping_neg()
        },
        ..Op::new(Kind::Float(kind))
    }
}

/// Post moves the base up afterwards, Pre moves it down before. imm8 counts words. `imm` is how
/// many bytes the base moves. With doubles and an odd imm8 (FLDMX, FSTMX) that is one word more
/// than is transferred.
fn multiple(kind: Float, o: u32) -> Op {
    let index = match (bit(o, 24), bit(o, 21)) {
        (true, _) => Index::Pre,
        (false, true) => Index::Post,
        (false, false) => Index::Offset,
    };
    let imm8 = bits(o, 7, 0);
    let words = imm8 & if bit(o, 8) { !1 } else { !0 };
    Op {
        d: first_register(o),
        n: reg(o, 16),
        amount: words as u8,
        index,
        imm: 4 * imm8,
        ..Op::new(Kind::Float(kind))
    }
}
