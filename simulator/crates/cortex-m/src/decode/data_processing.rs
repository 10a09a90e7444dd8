//! Data processing (A5.2.1–A5.2.3, A5.3.1, A5.3.3, A5.3.11).

use super::op::Alu::*;
use super::op::Kind::{Branch as BranchKind, Immediate, Register, ShiftByRegister, Shifted};
use super::op::{decode_shift, Branch, Op, SetFlags, Shift};
use super::row::{bits, from_sp, outside_it, pc_relative, rows, sixteen, Row, Step};

pub const NARROW: &[Row] = rows! {
    "0000 0000 00mm mddd" "MOV (register) T2"                Register(Mov), outside_it;
    "0000 0sss ssmm mddd" "LSL (immediate) T1"               Shifted(Mov), outside_it, narrow_shift;
    "0000 1sss ssmm mddd" "LSR (immediate) T1"               Shifted(Mov), outside_it, narrow_shift;
    "0001 0sss ssmm mddd" "ASR (immediate) T1"               Shifted(Mov), outside_it, narrow_shift;
    "0001 100m mmnn nddd" "ADD (register) T1"                Register(Add), outside_it;
    "0001 101m mmnn nddd" "SUB (register) T1"                Register(Sub), outside_it;
    "0001 110i iinn nddd" "ADD (immediate) T1"               Immediate(Add), outside_it;
    "0001 111i iinn nddd" "SUB (immediate) T1"               Immediate(Sub), outside_it;
    "0010 0xxx iiii iiii" "MOV (immediate) T1"               Immediate(Mov), outside_it;
    "0010 1xxx iiii iiii" "CMP (immediate) T1"               Immediate(Cmp), always;
    "0011 0xxx iiii iiii" "ADD (immediate) T2"               Immediate(Add), outside_it;
    "0011 1xxx iiii iiii" "SUB (immediate) T2"               Immediate(Sub), outside_it;
    "0100 0000 00mm mxxx" "AND (register) T1"                Register(And), outside_it;
    "0100 0000 01mm mxxx" "EOR (register) T1"                Register(Eor), outside_it;
    "0100 0000 10mm mxxx" "LSL (register) T1"                ShiftByRegister, outside_it;
    "0100 0000 11mm mxxx" "LSR (register) T1"                ShiftByRegister, outside_it, LSR;
    "0100 0001 00mm mxxx" "ASR (register) T1"                ShiftByRegister, outside_it, ASR;
    "0100 0001 01mm mxxx" "ADC (register) T1"                Register(Adc), outside_it;
    "0100 0001 10mm mxxx" "SBC (register) T1"                Register(Sbc), outside_it;
    "0100 0001 11mm mxxx" "ROR (register) T1"                ShiftByRegister, outside_it, ROR;
    "0100 0010 00mm mxxx" "TST (register) T1"                Register(Tst), always;
    "0100 0010 01nn nddd" "RSB (immediate) T1"               Immediate(Rsb), outside_it;
    "0100 0010 10mm mxxx" "CMP (register) T1"                Register(Cmp), always;
    "0100 0010 11mm mxxx" "CMN (register) T1"                Register(Cmn), always;
    "0100 0011 00mm mxxx" "ORR (register) T1"                Register(Orr), outside_it;
    "0100 0011 10mm mxxx" "BIC (register) T1"                Register(Bic), outside_it;
    "0100 0011 11mm mxxx" "MVN (register) T1"                Register(Mvn), outside_it;
    "0100 0100 1mmm m111" "ADD (register) T2, to PC"         BranchKind(Branch::AddPc);
    "0100 0100 xmmm mxxx" "ADD (register) T2"                Register(Add);
    "0100 0101 xmmm mxxx" "CMP (register) T2"                Register(Cmp), always;
    "0100 0110 1mmm m111" "MOV (register) T1, to PC"         BranchKind(Branch::MovPc);
    "0100 0110 xmmm mxxx" "MOV (register) T1"                Register(Mov);
    "1010 0ddd wwww wwww" "ADR T1"                           Immediate(Mov), pc_relative;
    "1010 1ddd wwww wwww" "ADD (SP plus immediate) T1"       Immediate(Add), from_sp;
    "1011 0000 0www wwww" "ADD (SP plus immediate) T2"       Immediate(Add), from_sp, to_sp;
    "1011 0000 1www wwww" "SUB (SP minus immediate) T1"      Immediate(Sub), from_sp, to_sp;
};

pub const WIDE: &[Row] = rows! {
    "1110 1010 0001 nnnn 0sss 1111 sstt mmmm" "TST (register) T2"                Shifted(Tst), always, shifted;
    "1110 1010 000S nnnn 0sss dddd sstt mmmm" "AND (register) T2"                Shifted(And), shifted;
    "1110 1010 001S nnnn 0sss dddd sstt mmmm" "BIC (register) T2"                Shifted(Bic), shifted;
    "1110 1010 010S 1111 0sss dddd sstt mmmm" "MOV (register) T3, shifts (immediate) T2" Shifted(Mov), shifted;
    "1110 1010 010S nnnn 0sss dddd sstt mmmm" "ORR (register) T2"                Shifted(Orr), shifted;
    "1110 1010 011S 1111 0sss dddd sstt mmmm" "MVN (register) T2"                Shifted(Mvn), shifted;
    "1110 1010 011S nnnn 0sss dddd sstt mmmm" "ORN (register) T1"                Shifted(Orn), shifted;
    "1110 1010 1001 nnnn 0sss 1111 sstt mmmm" "TEQ (register) T1"                Shifted(Teq), always, shifted;
    "1110 1010 100S nnnn 0sss dddd sstt mmmm" "EOR (register) T2"                Shifted(Eor), shifted;
    "1110 1011 0001 nnnn 0sss 1111 sstt mmmm" "CMN (register) T2"                Shifted(Cmn), always, shifted;
    "1110 1011 000S nnnn 0sss dddd sstt mmmm" "ADD (register) T3"                Shifted(Add), shifted;
    "1110 1011 010S nnnn 0sss dddd sstt mmmm" "ADC (register) T2"                Shifted(Adc), shifted;
    "1110 1011 011S nnnn 0sss dddd sstt mmmm" "SBC (register) T2"                Shifted(Sbc), shifted;
    "1110 1011 1011 nnnn 0sss 1111 sstt mmmm" "CMP (register) T3"                Shifted(Cmp), always, shifted;
    "1110 1011 101S nnnn 0sss dddd sstt mmmm" "SUB (register) T2"                Shifted(Sub), shifted;
    "1110 1011 110S nnnn 0sss dddd sstt mmmm" "RSB (register) T1"                Shifted(Rsb), shifted;
    "1111 0i00 0001 nnnn 0iii 1111 iiii iiii" "TST (immediate) T1"               Immediate(Tst), always, modified;
    "1111 0i00 000S nnnn 0iii dddd iiii iiii" "AND (immediate) T1"               Immediate(And), modified;
    "1111 0i00 001S nnnn 0iii dddd iiii iiii" "BIC (immediate) T1"               Immediate(Bic), modified;
    "1111 0i00 010S 1111 0iii dddd iiii iiii" "MOV (immediate) T2"               Immediate(Mov), modified;
    "1111 0i00 010S nnnn 0iii dddd iiii iiii" "ORR (immediate) T1"               Immediate(Orr), modified;
    "1111 0i00 011S 1111 0iii dddd iiii iiii" "MVN (immediate) T1"               Immediate(Mvn), modified;
    "1111 0i00 011S nnnn 0iii dddd iiii iiii" "ORN (immediate) T1"               Immediate(Orn), modified;
    "1111 0i00 1001 nnnn 0iii 1111 iiii iiii" "TEQ (immediate) T1"               Immediate(Teq), always, modified;
    "1111 0i00 100S nnnn 0iii dddd iiii iiii" "EOR (immediate) T1"               Immediate(Eor), modified;
    "1111 0i01 0001 nnnn 0iii 1111 iiii iiii" "CMN (immediate) T1"               Immediate(Cmn), always, modified;
    "1111 0i01 000S nnnn 0iii dddd iiii iiii" "ADD (immediate) T3"               Immediate(Add), modified;
    "1111 0i01 010S nnnn 0iii dddd iiii iiii" "ADC (immediate) T1"               Immediate(Adc), modified;
    "1111 0i01 011S nnnn 0iii dddd iiii iiii" "SBC (immediate) T1"               Immediate(Sbc), modified;
    "1111 0i01 1011 nnnn 0iii 1111 iiii iiii" "CMP (immediate) T2"               Immediate(Cmp), always, modified;
    "1111 0i01 101S nnnn 0iii dddd iiii iiii" "SUB (immediate) T3"               Immediate(Sub), modified;
    "1111 0i01 110S nnnn 0iii dddd iiii iiii" "RSB (immediate) T2"               Immediate(Rsb), modified;
    "1111 0i10 0000 1111 0iii dddd iiii iiii" "ADR T3"                           Immediate(Mov), pc_relative;
    "1111 0i10 0000 nnnn 0iii dddd iiii iiii" "ADD (immediate) T4"               Immediate(Add);
    "1111 0i10 1010 1111 0iii dddd iiii iiii" "ADR T2"                           Immediate(Mov), negative, pc_relative;
    "1111 0i10 1010 nnnn 0iii dddd iiii iiii" "SUB (immediate) T4"               Immediate(Sub);
    "1111 0i10 0100 ---- 0iii dddd iiii iiii" "MOV (immediate) T3"               Immediate(Mov), sixteen;
    "1111 1010 000S nnnn 1111 dddd 0000 mmmm" "LSL (register) T2"                ShiftByRegister;
    "1111 1010 001S nnnn 1111 dddd 0000 mmmm" "LSR (register) T2"                ShiftByRegister, LSR;
    "1111 1010 010S nnnn 1111 dddd 0000 mmmm" "ASR (register) T2"                ShiftByRegister, ASR;
    "1111 1010 011S nnnn 1111 dddd 0000 mmmm" "ROR (register) T2"                ShiftByRegister, ROR;
};

const LSR: Step = |op, _, _| op.shift = Shift::Lsr;
const ASR: Step = |op, _, _| op.shift = Shift::Asr;
const ROR: Step = |op, _, _| op.shift = Shift::Ror;

/// Comparisons set the flags inside IT blocks too.
fn always(op: &mut Op, _: u32, _: u32) {
    op.flags = SetFlags::Always;
}

fn negative(op: &mut Op, _: u32, _: u32) {
    op.imm = op.imm.wrapping_neg();
}

/// A shift by the constant `amount`, of the type in bits 12:11.
fn narrow_shift(op: &mut Op, o: u32, _: u32) {
    (op.shift, op.amount) = decode_shift(bits(o, 12, 11), op.amount.into());
}

/// By nothing is not shifted.
fn shifted(op: &mut Op, _: u32, _: u32) {
    if let (Shifted(alu), 0) = (op.kind, op.amount) {
        op.kind = Register(alu);
    }
}

/// `ThumbExpandImm_C` (A5.3.2). `amount` = 1: the carry becomes bit 31 of the constant.
fn modified(op: &mut Op, _: u32, _: u32) {
    let (imm12, byte) = (op.imm, op.imm & 0xFF);
    op.amount = (imm12 >= 0x400) as u8;
    op.imm = match imm12 >> 8 {
        0 => byte,
        1 => byte << 16 | byte,
        2 => byte << 24 | byte << 8,
        3 => byte * 0x0101_0101,
        _ => (0x80 | imm12 & 0x7F).rotate_right(imm12 >> 7),
    };
}

fn to_sp(op: &mut Op, _: u32, _: u32) {
    op.d = 13;
}
