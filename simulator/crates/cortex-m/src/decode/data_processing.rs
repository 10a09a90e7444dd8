//! Data processing (A5.2.1–A5.2.3, A5.3.1, A5.3.3, A5.3.11).

use super::Alu::*;
use super::Kind::{Branch as BranchKind, Immediate, Register, ShiftByRegister, Shifted};
use super::{
    aligned_pc, bit, bits, decode_shift, low_reg, reg, row, Alu, Branch, Op, Row, SetFlags, Shift,
};

pub const NARROW: &[Row] = &[
    row(0xFFC0, 0x0000, "MOV (register) T2", |o, _| {
        narrow(Register(Mov), low_reg(o, 0), 0, low_reg(o, 3))
    }),
    row(0xF800, 0x0000, "LSL (immediate) T1", |o, _| {
        shift_immediate(o, 0)
    }),
    row(0xF800, 0x0800, "LSR (immediate) T1", |o, _| {
        shift_immediate(o, 1)
    }),
    row(0xF800, 0x1000, "ASR (immediate) T1", |o, _| {
        shift_immediate(o, 2)
    }),
    row(0xFE00, 0x1800, "ADD (register) T1", |o, _| {
        three_registers(Add, o)
    }),
    row(0xFE00, 0x1A00, "SUB (register) T1", |o, _| {
        three_registers(Sub, o)
    }),
    row(0xFE00, 0x1C00, "ADD (immediate) T1", |o, _| {
        immediate_3(Add, o)
    }),
    row(0xFE00, 0x1E00, "SUB (immediate) T1", |o, _| {
        immediate_3(Sub, o)
    }),
    row(0xF800, 0x2000, "MOV (immediate) T1", |o, _| {
        immediate_8(Mov, o)
    }),
    row(0xF800, 0x2800, "CMP (immediate) T1", |o, _| {
        immediate_8(Cmp, o)
    }),
    row(0xF800, 0x3000, "ADD (immediate) T2", |o, _| {
        immediate_8(Add, o)
    }),
    row(0xF800, 0x3800, "SUB (immediate) T2", |o, _| {
        immediate_8(Sub, o)
    }),
    row(0xFFC0, 0x4000, "AND (register) T1", |o, _| {
        two_registers(And, o)
    }),
    row(0xFFC0, 0x4040, "EOR (register) T1", |o, _| {
        two_registers(Eor, o)
    }),
    row(0xFFC0, 0x4080, "LSL (register) T1", |o, _| {
        shift_register(o, Shift::Lsl)
    }),
    row(0xFFC0, 0x40C0, "LSR (register) T1", |o, _| {
        shift_register(o, Shift::Lsr)
    }),
    row(0xFFC0, 0x4100, "ASR (register) T1", |o, _| {
        shift_register(o, Shift::Asr)
    }),
    row(0xFFC0, 0x4140, "ADC (register) T1", |o, _| {
        two_registers(Adc, o)
    }),
    row(0xFFC0, 0x4180, "SBC (register) T1", |o, _| {
        two_registers(Sbc, o)
    }),
    row(0xFFC0, 0x41C0, "ROR (register) T1", |o, _| {
        shift_register(o, Shift::Ror)
    }),
    row(0xFFC0, 0x4200, "TST (register) T1", |o, _| {
        two_registers(Tst, o)
    }),
    row(0xFFC0, 0x4240, "RSB (immediate) T1", |o, _| {
        narrow(Immediate(Rsb), low_reg(o, 0), low_reg(o, 3), 0)
    }),
    row(0xFFC0, 0x4280, "CMP (register) T1", |o, _| {
        two_registers(Cmp, o)
    }),
    row(0xFFC0, 0x42C0, "CMN (register) T1", |o, _| {
        two_registers(Cmn, o)
    }),
    row(0xFFC0, 0x4300, "ORR (register) T1", |o, _| {
        two_registers(Orr, o)
    }),
    row(0xFFC0, 0x4380, "BIC (register) T1", |o, _| {
        two_registers(Bic, o)
    }),
    row(0xFFC0, 0x43C0, "MVN (register) T1", |o, _| {
        two_registers(Mvn, o)
    }),
    row(0xFF87, 0x4487, "ADD (register) T2, to PC", |o, _| {
        to_pc(Branch::AddPc, o)
    }),
    row(0xFF00, 0x4400, "ADD (register) T2", |o, _| {
        high_registers(Add, o)
    }),
    row(0xFF00, 0x4500, "CMP (register) T2", |o, _| Op {
        flags: SetFlags::Always,
        ..high_registers(Cmp, o)
    }),
    row(0xFF87, 0x4687, "MOV (register) T1, to PC", |o, _| {
        to_pc(Branch::MovPc, o)
    }),
    row(0xFF00, 0x4600, "MOV (register) T1", |o, _| {
        high_registers(Mov, o)
    }),
    row(0xF800, 0xA000, "ADR T1", |o, address| Op {
        d: low_reg(o, 8),
        imm: aligned_pc(address).wrapping_add(bits(o, 7, 0) << 2),
        ..Op::new(Immediate(Mov))
    }),
    row(0xF800, 0xA800, "ADD (SP plus immediate) T1", |o, _| {
        to_sp_relative(Add, low_reg(o, 8), bits(o, 7, 0) << 2)
    }),
    row(0xFF80, 0xB000, "ADD (SP plus immediate) T2", |o, _| {
        to_sp_relative(Add, 13, bits(o, 6, 0) << 2)
    }),
    row(0xFF80, 0xB080, "SUB (SP minus immediate) T1", |o, _| {
        to_sp_relative(Sub, 13, bits(o, 6, 0) << 2)
    }),
];

pub const WIDE: &[Row] = &[
    row(0xFFF08F00, 0xEA100F00, "TST (register) T2", |o, _| {
        shifted(Tst, o)
    }),
    row(0xFFE08000, 0xEA000000, "AND (register) T2", |o, _| {
        shifted(And, o)
    }),
    row(0xFFE08000, 0xEA200000, "BIC (register) T2", |o, _| {
        shifted(Bic, o)
    }),
    row(
        0xFFEF8000,
        0xEA4F0000,
        "MOV (register) T3, shifts (immediate) T2",
        |o, _| shifted(Mov, o),
    ),
    row(0xFFE08000, 0xEA400000, "ORR (register) T2", |o, _| {
        shifted(Orr, o)
    }),
    row(0xFFEF8000, 0xEA6F0000, "MVN (register) T2", |o, _| {
        shifted(Mvn, o)
    }),
    row(0xFFE08000, 0xEA600000, "ORN (register) T1", |o, _| {
        shifted(Orn, o)
    }),
    row(0xFFF08F00, 0xEA900F00, "TEQ (register) T1", |o, _| {
        shifted(Teq, o)
    }),
    row(0xFFE08000, 0xEA800000, "EOR (register) T2", |o, _| {
        shifted(Eor, o)
    }),
    row(0xFFF08F00, 0xEB100F00, "CMN (register) T2", |o, _| {
        shifted(Cmn, o)
    }),
    row(0xFFE08000, 0xEB000000, "ADD (register) T3", |o, _| {
        shifted(Add, o)
    }),
    row(0xFFE08000, 0xEB400000, "ADC (register) T2", |o, _| {
        shifted(Adc, o)
    }),
    row(0xFFE08000, 0xEB600000, "SBC (register) T2", |o, _| {
        shifted(Sbc, o)
    }),
    row(0xFFF08F00, 0xEBB00F00, "CMP (register) T3", |o, _| {
        shifted(Cmp, o)
    }),
    row(0xFFE08000, 0xEBA00000, "SUB (register) T2", |o, _| {
        shifted(Sub, o)
    }),
    row(0xFFE08000, 0xEBC00000, "RSB (register) T1", |o, _| {
        shifted(Rsb, o)
    }),
    row(0xFBF08F00, 0xF0100F00, "TST (immediate) T1", |o, _| {
        modified(Tst, o)
    }),
    row(0xFBE08000, 0xF0000000, "AND (immediate) T1", |o, _| {
        modified(And, o)
    }),
    row(0xFBE08000, 0xF0200000, "BIC (immediate) T1", |o, _| {
        modified(Bic, o)
    }),
    row(0xFBEF8000, 0xF04F0000, "MOV (immediate) T2", |o, _| {
        modified(Mov, o)
    }),
    row(0xFBE08000, 0xF0400000, "ORR (immediate) T1", |o, _| {
        modified(Orr, o)
    }),
    row(0xFBEF8000, 0xF06F0000, "MVN (immediate) T1", |o, _| {
        modified(Mvn, o)
    }),
    row(0xFBE08000, 0xF0600000, "ORN (immediate) T1", |o, _| {
        modified(Orn, o)
    }),
    row(0xFBF08F00, 0xF0900F00, "TEQ (immediate) T1", |o, _| {
        modified(Teq, o)
    }),
    row(0xFBE08000, 0xF0800000, "EOR (immediate) T1", |o, _| {
        modified(Eor, o)
    }),
    row(0xFBF08F00, 0xF1100F00, "CMN (immediate) T1", |o, _| {
        modified(Cmn, o)
    }),
    row(0xFBE08000, 0xF1000000, "ADD (immediate) T3", |o, _| {
        modified(Add, o)
    }),
    row(0xFBE08000, 0xF1400000, "ADC (immediate) T1", |o, _| {
        modified(Adc, o)
    }),
    row(0xFBE08000, 0xF1600000, "SBC (immediate) T1", |o, _| {
        modified(Sbc, o)
    }),
    row(0xFBF08F00, 0xF1B00F00, "CMP (immediate) T2", |o, _| {
        modified(Cmp, o)
    }),
    row(0xFBE08000, 0xF1A00000, "SUB (immediate) T3", |o, _| {
        modified(Sub, o)
    }),
    row(0xFBE08000, 0xF1C00000, "RSB (immediate) T2", |o, _| {
        modified(Rsb, o)
    }),
    row(0xFBFF8000, 0xF20F0000, "ADR T3", |o, address| Op {
        d: reg(o, 8),
        imm: aligned_pc(address).wrapping_add(immediate_12(o)),
        ..Op::new(Immediate(Mov))
    }),
    row(0xFBF08000, 0xF2000000, "ADD (immediate) T4", |o, _| {
        plain(Add, o, immediate_12(o))
    }),
    row(0xFBFF8000, 0xF2AF0000, "ADR T2", |o, address| Op {
        d: reg(o, 8),
        imm: aligned_pc(address).wrapping_sub(immediate_12(o)),
        ..Op::new(Immediate(Mov))
    }),
    row(0xFBF08000, 0xF2A00000, "SUB (immediate) T4", |o, _| {
        plain(Sub, o, immediate_12(o))
    }),
    row(0xFBF08000, 0xF2400000, "MOV (immediate) T3", |o, _| {
        plain(Mov, o, bits(o, 19, 16) << 12 | immediate_12(o))
    }),
    row(0xFFE0F0F0, 0xFA00F000, "LSL (register) T2", |o, _| {
        wide_shift_register(o, Shift::Lsl)
    }),
    row(0xFFE0F0F0, 0xFA20F000, "LSR (register) T2", |o, _| {
        wide_shift_register(o, Shift::Lsr)
    }),
    row(0xFFE0F0F0, 0xFA40F000, "ASR (register) T2", |o, _| {
        wide_shift_register(o, Shift::Asr)
    }),
    row(0xFFE0F0F0, 0xFA60F000, "ROR (register) T2", |o, _| {
        wide_shift_register(o, Shift::Ror)
    }),
];

fn narrow(kind: super::Kind, d: u8, n: u8, m: u8) -> Op {
    Op {
        d,
        n,
        m,
        flags: SetFlags::OutsideIt,
        ..Op::new(kind)
    }
}

fn shift_immediate(o: u32, kind: u32) -> Op {
    let (shift, amount) = decode_shift(kind, bits(o, 10, 6));
    Op {
        shift,
        amount,
        ..narrow(Shifted(Mov), low_reg(o, 0), 0, low_reg(o, 3))
    }
}

fn three_registers(alu: Alu, o: u32) -> Op {
    narrow(Register(alu), low_reg(o, 0), low_reg(o, 3), low_reg(o, 6))
}

/// Comparisons set the flags inside IT blocks too.
fn two_registers(alu: Alu, o: u32) -> Op {
    let op = narrow(Register(alu), low_reg(o, 0), low_reg(o, 0), low_reg(o, 3));
    match alu {
        Tst | Cmp | Cmn => Op {
            flags: SetFlags::Always,
            ..op
        },
        _ => op,
    }
}

fn shift_register(o: u32, shift: Shift) -> Op {
    Op {
        shift,
        ..narrow(ShiftByRegister, low_reg(o, 0), low_reg(o, 0), low_reg(o, 3))
    }
}

fn immediate_3(alu: Alu, o: u32) -> Op {
    Op {
        imm: bits(o, 8, 6),
        ..narrow(Immediate(alu), low_reg(o, 0), low_reg(o, 3), 0)
    }
}

fn immediate_8(alu: Alu, o: u32) -> Op {
    let flags = if alu == Cmp {
        SetFlags::Always
    } else {
        SetFlags::OutsideIt
    };
    Op {
        imm: bits(o, 7, 0),
        flags,
        ..narrow(Immediate(alu), low_reg(o, 8), low_reg(o, 8), 0)
    }
}

fn high_registers(alu: Alu, o: u32) -> Op {
    let d = low_reg(o, 0) | (bit(o, 7) as u8) << 3;
    Op {
        d,
        n: d,
        m: reg(o, 3),
        ..Op::new(Register(alu))
    }
}

fn to_pc(branch: Branch, o: u32) -> Op {
    Op {
        m: reg(o, 3),
        ..Op::new(BranchKind(branch))
    }
}

fn to_sp_relative(alu: Alu, d: u8, imm: u32) -> Op {
    Op {
        d,
        n: 13,
        imm,
        ..Op::new(Immediate(alu))
    }
}

fn set_flags(o: u32) -> SetFlags {
    if bit(o, 20) {
        SetFlags::Always
    } else {
        SetFlags::Never
    }
}

fn shifted(alu: Alu, o: u32) -> Op {
    let (shift, amount) = decode_shift(bits(o, 5, 4), bits(o, 14, 12) << 2 | bits(o, 7, 6));
    let kind = if amount == 0 {
        Register(alu)
    } else {
        Shifted(alu)
    };
    Op {
        d: reg(o, 8),
        n: reg(o, 16),
        m: reg(o, 0),
        flags: set_flags(o),
        shift,
        amount,
        ..Op::new(kind)
    }
}

/// The immediate i:imm3:imm8.
fn immediate_12(o: u32) -> u32 {
    bits(o, 26, 26) << 11 | bits(o, 14, 12) << 8 | bits(o, 7, 0)
}

/// `ThumbExpandImm_C` (A5.3.2). The flag: the carry becomes bit 31 of the constant.
fn expand_immediate(imm12: u32) -> (u32, bool) {
    let byte = imm12 & 0xFF;
    match imm12 >> 8 {
        0 => (byte, false),
        1 => (byte << 16 | byte, false),
        2 => (byte << 24 | byte << 8, false),
        3 => (byte * 0x0101_0101, false),
        _ => ((0x80 | imm12 & 0x7F).rotate_right(imm12 >> 7), true),
    }
}

fn modified(alu: Alu, o: u32) -> Op {
    let (imm, sets_carry) = expand_immediate(immediate_12(o));
    Op {
        d: reg(o, 8),
        n: reg(o, 16),
        imm,
        amount: sets_carry as u8,
        flags: set_flags(o),
        ..Op::new(Immediate(alu))
    }
}

fn plain(alu: Alu, o: u32, imm: u32) -> Op {
    Op {
        d: reg(o, 8),
        n: reg(o, 16),
        imm,
        ..Op::new(Immediate(alu))
    }
}

fn wide_shift_register(o: u32, shift: Shift) -> Op {
    Op {
        d: reg(o, 8),
        n: reg(o, 16),
        m: reg(o, 0),
        shift,
        flags: set_flags(o),
        ..Op::new(ShiftByRegister)
    }
}
