//! Bit fields, extensions, reversals, saturation and packed arithmetic (A5.2.5, A5.3.3,
//! A5.3.12–A5.3.15).

use super::Media::*;
use super::{bit, bits, decode_shift, low_reg, reg, row, Kind, Media, Op, Row, System};

pub const NARROW: &[Row] = &[
    row(0xFFC0, 0xB200, "SXTH T1", |o, _| narrow_extend(Sxtah, o)),
    row(0xFFC0, 0xB240, "SXTB T1", |o, _| narrow_extend(Sxtab, o)),
    row(0xFFC0, 0xB280, "UXTH T1", |o, _| narrow_extend(Uxtah, o)),
    row(0xFFC0, 0xB2C0, "UXTB T1", |o, _| narrow_extend(Uxtab, o)),
    row(0xFFC0, 0xBA00, "REV T1", |o, _| narrow_extend(Rev, o)),
    row(0xFFC0, 0xBA40, "REV16 T1", |o, _| narrow_extend(Rev16, o)),
    row(0xFFC0, 0xBAC0, "REVSH T1", |o, _| narrow_extend(Revsh, o)),
];

pub const WIDE: &[Row] = &[
    row(0xFBF08000, 0xF2C00000, "MOVT T1", |o, _| Op {
        d: reg(o, 8),
        imm: bits(o, 19, 16) << 12 | bits(o, 26, 26) << 11 | bits(o, 14, 12) << 8 | bits(o, 7, 0),
        ..Op::new(Kind::Media(Movt))
    }),
    row(0xFFF0F0C0, 0xF3200000, "SSAT16 T1", |o, _| Op {
        imm: bits(o, 3, 0) + 1,
        ..registers(Ssat16, o)
    }),
    row(0xFFD08020, 0xF3000000, "SSAT T1", |o, _| Op {
        imm: bits(o, 4, 0) + 1,
        ..saturate(Ssat, o)
    }),
    row(0xFFF0F0C0, 0xF3A00000, "USAT16 T1", |o, _| Op {
        imm: bits(o, 3, 0),
        ..registers(Usat16, o)
    }),
    row(0xFFD08020, 0xF3800000, "USAT T1", |o, _| Op {
        imm: bits(o, 4, 0),
        ..saturate(Usat, o)
    }),
    row(0xFFF08020, 0xF3400000, "SBFX T1", |o, _| Op {
        imm: bits(o, 4, 0) + 1,
        ..field(Sbfx, o)
    }),
    row(0xFFF08020, 0xF3C00000, "UBFX T1", |o, _| Op {
        imm: bits(o, 4, 0) + 1,
        ..field(Ubfx, o)
    }),
    row(0xFFF08020, 0xF3600000, "BFI, BFC T1", |o, _| Op {
        imm: bits(o, 4, 0),
        ..field(Bfi, o)
    }),
    row(0xFFF08010, 0xEAC00000, "PKHBT, PKHTB T1", |o, _| pack(o)),
    row(0xFFF0F0C0, 0xFA00F080, "SXTH T2, SXTAH T1", |o, _| {
        extend(Sxtah, o)
    }),
    row(0xFFF0F0C0, 0xFA10F080, "UXTH T2, UXTAH T1", |o, _| {
        extend(Uxtah, o)
    }),
    row(0xFFF0F0C0, 0xFA20F080, "SXTB16, SXTAB16 T1", |o, _| {
        extend(Sxtab16, o)
    }),
    row(0xFFF0F0C0, 0xFA30F080, "UXTB16, UXTAB16 T1", |o, _| {
        extend(Uxtab16, o)
    }),
    row(0xFFF0F0C0, 0xFA40F080, "SXTB T2, SXTAB T1", |o, _| {
        extend(Sxtab, o)
    }),
    row(0xFFF0F0C0, 0xFA50F080, "UXTB T2, UXTAB T1", |o, _| {
        extend(Uxtab, o)
    }),
    row(0xFFF0F0F0, 0xFA80F080, "QADD T1", |o, _| registers(Qadd, o)),
    row(0xFFF0F0F0, 0xFA80F090, "QDADD T1", |o, _| {
        registers(Qdadd, o)
    }),
    row(0xFFF0F0F0, 0xFA80F0A0, "QSUB T1", |o, _| registers(Qsub, o)),
    row(0xFFF0F0F0, 0xFA80F0B0, "QDSUB T1", |o, _| {
        registers(Qdsub, o)
    }),
    row(0xFFF0F0F0, 0xFA90F080, "REV T2", |o, _| registers(Rev, o)),
    row(0xFFF0F0F0, 0xFA90F090, "REV16 T2", |o, _| {
        registers(Rev16, o)
    }),
    row(0xFFF0F0F0, 0xFA90F0A0, "RBIT T1", |o, _| registers(Rbit, o)),
    row(0xFFF0F0F0, 0xFA90F0B0, "REVSH T2", |o, _| {
        registers(Revsh, o)
    }),
    row(0xFFF0F0F0, 0xFAA0F080, "SEL T1", |o, _| registers(Sel, o)),
    row(0xFFF0F0F0, 0xFAB0F080, "CLZ T1", |o, _| registers(Clz, o)),
    // No packed operation has the prefixes 011 and 111.
    row(
        0xFF80F0B0,
        0xFA80F030,
        "UNDEFINED (packed arithmetic)",
        undefined,
    ),
    row(0xFFF0F080, 0xFA80F000, "xADD8 T1", |o, _| parallel(o)),
    row(0xFFF0F080, 0xFA90F000, "xADD16 T1", |o, _| parallel(o)),
    row(0xFFF0F080, 0xFAA0F000, "xASX T1", |o, _| parallel(o)),
    row(0xFFF0F080, 0xFAC0F000, "xSUB8 T1", |o, _| parallel(o)),
    row(0xFFF0F080, 0xFAD0F000, "xSUB16 T1", |o, _| parallel(o)),
    row(0xFFF0F080, 0xFAE0F000, "xSAX T1", |o, _| parallel(o)),
];

fn narrow_extend(kind: Media, o: u32) -> Op {
    Op {
        d: low_reg(o, 0),
        n: 15,
        m: low_reg(o, 3),
        ..Op::new(Kind::Media(kind))
    }
}

fn registers(kind: Media, o: u32) -> Op {
    Op {
        d: reg(o, 8),
        n: reg(o, 16),
        m: reg(o, 0),
        ..Op::new(Kind::Media(kind))
    }
}

fn extend(kind: Media, o: u32) -> Op {
    Op {
        amount: (bits(o, 5, 4) * 8) as u8,
        ..registers(kind, o)
    }
}

/// `amount` = lowest bit of the field.
fn field(kind: Media, o: u32) -> Op {
    Op {
        amount: (bits(o, 14, 12) << 2 | bits(o, 7, 6)) as u8,
        ..registers(kind, o)
    }
}

fn saturate(kind: Media, o: u32) -> Op {
    let (shift, amount) = decode_shift(bits(o, 21, 21) << 1, bits(o, 14, 12) << 2 | bits(o, 7, 6));
    Op {
        shift,
        amount,
        ..registers(kind, o)
    }
}

fn pack(o: u32) -> Op {
    let kind = if bit(o, 5) { Pkhtb } else { Pkhbt };
    let (shift, amount) = decode_shift(bits(o, 5, 4), bits(o, 14, 12) << 2 | bits(o, 7, 6));
    Op {
        shift,
        amount,
        ..registers(kind, o)
    }
}

fn undefined(_: u32, _: u32) -> Op {
    Op::new(Kind::System(System::PermanentlyUndefined))
}

fn parallel(o: u32) -> Op {
    Op {
        amount: bits(o, 22, 20) as u8,
        imm: bits(o, 6, 4),
        ..registers(Parallel, o)
    }
}
