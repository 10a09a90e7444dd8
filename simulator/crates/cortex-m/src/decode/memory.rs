//! Single, double and exclusive loads and stores (A5.2.4, A5.3.6–A5.3.10).

use super::Access::*;
use super::Memory::*;
use super::{
    aligned_pc, bit, bits, low_reg, reg, row, Access, Index, Kind, Memory, Op, Row, System,
};

pub const NARROW: &[Row] = &[
    row(0xF800, 0x4800, "LDR (literal) T1", |o, address| Op {
        d: low_reg(o, 8),
        imm: aligned_pc(address).wrapping_add(bits(o, 7, 0) << 2),
        ..Op::new(Kind::Memory(LoadLiteral(Word)))
    }),
    row(0xFE00, 0x5000, "STR (register) T1", |o, _| {
        narrow_register(StoreRegister(Word), o)
    }),
    row(0xFE00, 0x5200, "STRH (register) T1", |o, _| {
        narrow_register(StoreRegister(Half), o)
    }),
    row(0xFE00, 0x5400, "STRB (register) T1", |o, _| {
        narrow_register(StoreRegister(Byte), o)
    }),
    row(0xFE00, 0x5600, "LDRSB (register) T1", |o, _| {
        narrow_register(LoadRegister(SignedByte), o)
    }),
    row(0xFE00, 0x5800, "LDR (register) T1", |o, _| {
        narrow_register(LoadRegister(Word), o)
    }),
    row(0xFE00, 0x5A00, "LDRH (register) T1", |o, _| {
        narrow_register(LoadRegister(Half), o)
    }),
    row(0xFE00, 0x5C00, "LDRB (register) T1", |o, _| {
        narrow_register(LoadRegister(Byte), o)
    }),
    row(0xFE00, 0x5E00, "LDRSH (register) T1", |o, _| {
        narrow_register(LoadRegister(SignedHalf), o)
    }),
    row(0xF800, 0x6000, "STR (immediate) T1", |o, _| {
        narrow_offset(Store(Word), o, 2)
    }),
    row(0xF800, 0x6800, "LDR (immediate) T1", |o, _| {
        narrow_offset(Load(Word), o, 2)
    }),
    row(0xF800, 0x7000, "STRB (immediate) T1", |o, _| {
        narrow_offset(Store(Byte), o, 0)
    }),
    row(0xF800, 0x7800, "LDRB (immediate) T1", |o, _| {
        narrow_offset(Load(Byte), o, 0)
    }),
    row(0xF800, 0x8000, "STRH (immediate) T1", |o, _| {
        narrow_offset(Store(Half), o, 1)
    }),
    row(0xF800, 0x8800, "LDRH (immediate) T1", |o, _| {
        narrow_offset(Load(Half), o, 1)
    }),
    row(0xF800, 0x9000, "STR (immediate) T2", |o, _| {
        sp_offset(Store(Word), o)
    }),
    row(0xF800, 0x9800, "LDR (immediate) T2", |o, _| {
        sp_offset(Load(Word), o)
    }),
];

pub const WIDE: &[Row] = &[
    row(0xFFF00000, 0xE8400000, "STREX T1", |o, _| Op {
        d: reg(o, 12),
        n: reg(o, 16),
        a: reg(o, 8),
        imm: bits(o, 7, 0) << 2,
        ..Op::new(Kind::Memory(StoreExclusive(Word)))
    }),
    row(0xFFF00F00, 0xE8500F00, "LDREX T1", |o, _| Op {
        imm: bits(o, 7, 0) << 2,
        ..exclusive(LoadExclusive(Word), o)
    }),
    row(0xFFF00FF0, 0xE8C00F40, "STREXB T1", |o, _| {
        exclusive(StoreExclusive(Byte), o)
    }),
    row(0xFFF00FF0, 0xE8C00F50, "STREXH T1", |o, _| {
        exclusive(StoreExclusive(Half), o)
    }),
    row(0xFFF00FFF, 0xE8D00F4F, "LDREXB T1", |o, _| {
        exclusive(LoadExclusive(Byte), o)
    }),
    row(0xFFF00FFF, 0xE8D00F5F, "LDREXH T1", |o, _| {
        exclusive(LoadExclusive(Half), o)
    }),
    // Doubles. P = 0 with W = 0 encodes the exclusives and table branches.
    row(
        0xFF700000,
        0xE8600000,
        "STRD (immediate) T1, post-indexed",
        |o, _| double(StoreDouble, o),
    ),
    row(
        0xFF700000,
        0xE8700000,
        "LDRD (immediate) T1, post-indexed",
        |o, _| double(LoadDouble, o),
    ),
    row(0xFF500000, 0xE9400000, "STRD (immediate) T1", |o, _| {
        double(StoreDouble, o)
    }),
    row(0xFF500000, 0xE9500000, "LDRD (immediate) T1", |o, _| {
        double(LoadDouble, o)
    }),
    // A byte or halfword load with Rt = 15 is a hint: PLD, PLI, or reserved and without effect.
    row(0xFF5FF000, 0xF81FF000, "PLD (literal)", hint),
    row(0xFF5FF000, 0xF91FF000, "PLI (literal)", hint),
    row(0xFFD0F000, 0xF890F000, "PLD (immediate) T1", hint),
    row(0xFFD0FFC0, 0xF810F000, "PLD (register) T1", hint),
    row(0xFFD0FF00, 0xF810FC00, "PLD (immediate) T2", hint),
    row(0xFFD0F000, 0xF990F000, "PLI (immediate) T1", hint),
    row(0xFFD0FFC0, 0xF910F000, "PLI (register) T1", hint),
    row(0xFFD0FF00, 0xF910FC00, "PLI (immediate) T2", hint),
    row(0xFF7F0000, 0xF81F0000, "LDRB (literal) T1", |o, a| {
        literal(Byte, o, a)
    }),
    row(0xFF7F0000, 0xF83F0000, "LDRH (literal) T1", |o, a| {
        literal(Half, o, a)
    }),
    row(0xFF7F0000, 0xF85F0000, "LDR (literal) T2", |o, a| {
        literal(Word, o, a)
    }),
    row(0xFF7F0000, 0xF91F0000, "LDRSB (literal) T1", |o, a| {
        literal(SignedByte, o, a)
    }),
    row(0xFF7F0000, 0xF93F0000, "LDRSH (literal) T1", |o, a| {
        literal(SignedHalf, o, a)
    }),
    row(0xFFF00000, 0xF8800000, "STRB (immediate) T2", |o, _| {
        offset_12(Store(Byte), o)
    }),
    row(0xFFF00000, 0xF8A00000, "STRH (immediate) T2", |o, _| {
        offset_12(Store(Half), o)
    }),
    row(0xFFF00000, 0xF8C00000, "STR (immediate) T3", |o, _| {
        offset_12(Store(Word), o)
    }),
    row(0xFFF00000, 0xF8900000, "LDRB (immediate) T2", |o, _| {
        offset_12(Load(Byte), o)
    }),
    row(0xFFF00000, 0xF8B00000, "LDRH (immediate) T2", |o, _| {
        offset_12(Load(Half), o)
    }),
    row(0xFFF00000, 0xF8D00000, "LDR (immediate) T3", |o, _| {
        offset_12(Load(Word), o)
    }),
    row(0xFFF00000, 0xF9900000, "LDRSB (immediate) T1", |o, _| {
        offset_12(Load(SignedByte), o)
    }),
    row(0xFFF00000, 0xF9B00000, "LDRSH (immediate) T1", |o, _| {
        offset_12(Load(SignedHalf), o)
    }),
    // Neither indexed nor written back: UNDEFINED.
    row(
        0xFE800D00,
        0xF8000800,
        "UNDEFINED (load or store)",
        undefined,
    ),
    row(0xFFF00F00, 0xF8000E00, "STRBT T1", |o, _| {
        unprivileged(StoreUnprivileged(Byte), o)
    }),
    row(0xFFF00F00, 0xF8200E00, "STRHT T1", |o, _| {
        unprivileged(StoreUnprivileged(Half), o)
    }),
    row(0xFFF00F00, 0xF8400E00, "STRT T1", |o, _| {
        unprivileged(StoreUnprivileged(Word), o)
    }),
    row(0xFFF00F00, 0xF8100E00, "LDRBT T1", |o, _| {
        unprivileged(LoadUnprivileged(Byte), o)
    }),
    row(0xFFF00F00, 0xF8300E00, "LDRHT T1", |o, _| {
        unprivileged(LoadUnprivileged(Half), o)
    }),
    row(0xFFF00F00, 0xF8500E00, "LDRT T1", |o, _| {
        unprivileged(LoadUnprivileged(Word), o)
    }),
    row(0xFFF00F00, 0xF9100E00, "LDRSBT T1", |o, _| {
        unprivileged(LoadUnprivileged(SignedByte), o)
    }),
    row(0xFFF00F00, 0xF9300E00, "LDRSHT T1", |o, _| {
        unprivileged(LoadUnprivileged(SignedHalf), o)
    }),
    row(0xFFF00800, 0xF8000800, "STRB (immediate) T3", |o, _| {
        offset_8(Store(Byte), o)
    }),
    row(0xFFF00800, 0xF8200800, "STRH (immediate) T3", |o, _| {
        offset_8(Store(Half), o)
    }),
    row(0xFFF00800, 0xF8400800, "STR (immediate) T4", |o, _| {
        offset_8(Store(Word), o)
    }),
    row(0xFFF00800, 0xF8100800, "LDRB (immediate) T3", |o, _| {
        offset_8(Load(Byte), o)
    }),
    row(0xFFF00800, 0xF8300800, "LDRH (immediate) T3", |o, _| {
        offset_8(Load(Half), o)
    }),
    row(0xFFF00800, 0xF8500800, "LDR (immediate) T4", |o, _| {
        offset_8(Load(Word), o)
    }),
    row(0xFFF00800, 0xF9100800, "LDRSB (immediate) T2", |o, _| {
        offset_8(Load(SignedByte), o)
    }),
    row(0xFFF00800, 0xF9300800, "LDRSH (immediate) T2", |o, _| {
        offset_8(Load(SignedHalf), o)
    }),
    row(0xFFF00FC0, 0xF8000000, "STRB (register) T2", |o, _| {
        register(StoreRegister(Byte), o)
    }),
    row(0xFFF00FC0, 0xF8200000, "STRH (register) T2", |o, _| {
        register(StoreRegister(Half), o)
    }),
    row(0xFFF00FC0, 0xF8400000, "STR (register) T2", |o, _| {
        register(StoreRegister(Word), o)
    }),
    row(0xFFF00FC0, 0xF8100000, "LDRB (register) T2", |o, _| {
        register(LoadRegister(Byte), o)
    }),
    row(0xFFF00FC0, 0xF8300000, "LDRH (register) T2", |o, _| {
        register(LoadRegister(Half), o)
    }),
    row(0xFFF00FC0, 0xF8500000, "LDR (register) T2", |o, _| {
        register(LoadRegister(Word), o)
    }),
    row(0xFFF00FC0, 0xF9100000, "LDRSB (register) T2", |o, _| {
        register(LoadRegister(SignedByte), o)
    }),
    row(0xFFF00FC0, 0xF9300000, "LDRSH (register) T2", |o, _| {
        register(LoadRegister(SignedHalf), o)
    }),
];

fn narrow_register(kind: Memory, o: u32) -> Op {
    Op {
        d: low_reg(o, 0),
        n: low_reg(o, 3),
        m: low_reg(o, 6),
        ..Op::new(Kind::Memory(kind))
    }
}

fn narrow_offset(kind: Memory, o: u32, scale: u32) -> Op {
    Op {
        d: low_reg(o, 0),
        n: low_reg(o, 3),
        imm: bits(o, 10, 6) << scale,
        ..Op::new(Kind::Memory(kind))
    }
}

fn sp_offset(kind: Memory, o: u32) -> Op {
    Op {
        d: low_reg(o, 8),
        n: 13,
        imm: bits(o, 7, 0) << 2,
        ..Op::new(Kind::Memory(kind))
    }
}

fn exclusive(kind: Memory, o: u32) -> Op {
    Op {
        d: reg(o, 12),
        n: reg(o, 16),
        a: reg(o, 0),
        ..Op::new(Kind::Memory(kind))
    }
}

/// `imm` with the sign of the U bit.
fn signed(imm: u32, up: bool) -> u32 {
    if up {
        imm
    } else {
        imm.wrapping_neg()
    }
}

fn index(pre: bool, writeback: bool) -> Index {
    match (pre, writeback) {
        (true, false) => Index::Offset,
        (true, true) => Index::Pre,
        (false, _) => Index::Post,
    }
}

fn double(kind: Memory, o: u32) -> Op {
    Op {
        d: reg(o, 12),
        m: reg(o, 8),
        n: reg(o, 16),
        imm: signed(bits(o, 7, 0) << 2, bit(o, 23)),
        index: index(bit(o, 24), bit(o, 21)),
        ..Op::new(Kind::Memory(kind))
    }
}

fn undefined(_: u32, _: u32) -> Op {
    Op::new(Kind::System(System::PermanentlyUndefined))
}

fn hint(_: u32, _: u32) -> Op {
    Op::new(Kind::System(System::Hint))
}

fn literal(access: Access, o: u32, address: u32) -> Op {
    Op {
        d: reg(o, 12),
        imm: aligned_pc(address).wrapping_add(signed(bits(o, 11, 0), bit(o, 23))),
        ..Op::new(Kind::Memory(LoadLiteral(access)))
    }
}

fn offset_12(kind: Memory, o: u32) -> Op {
    Op {
        d: reg(o, 12),
        n: reg(o, 16),
        imm: bits(o, 11, 0),
        ..Op::new(Kind::Memory(kind))
    }
}

fn offset_8(kind: Memory, o: u32) -> Op {
    Op {
        imm: signed(bits(o, 7, 0), bit(o, 9)),
        index: index(bit(o, 10), bit(o, 8)),
        ..offset_12(kind, o)
    }
}

fn unprivileged(kind: Memory, o: u32) -> Op {
    Op {
        imm: bits(o, 7, 0),
        ..offset_12(kind, o)
    }
}

fn register(kind: Memory, o: u32) -> Op {
    Op {
        d: reg(o, 12),
        n: reg(o, 16),
        m: reg(o, 0),
        amount: bits(o, 5, 4) as u8,
        ..Op::new(Kind::Memory(kind))
    }
}
