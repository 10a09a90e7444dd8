//! Floating point (A6): FPv4-SP, which is single precision with transfers of double words.

use super::op::Float::*;
use super::op::Kind::Float;
use super::op::{Index, Op};
use super::row::{bit, bits, rows, Row};

pub const WIDE: &[Row] = rows! {
    "1110 1110 0D00 nnnn dddd 1010 N0M0 mmmm" "VMLA T2"                          Float(Mla);
    "1110 1110 0D00 nnnn dddd 1010 N1M0 mmmm" "VMLS T2"                          Float(Mls);
    "1110 1110 0D01 nnnn dddd 1010 N0M0 mmmm" "VNMLS T1"                         Float(Nmls);
    "1110 1110 0D01 nnnn dddd 1010 N1M0 mmmm" "VNMLA T1"                         Float(Nmla);
    "1110 1110 0D10 nnnn dddd 1010 N0M0 mmmm" "VMUL T2"                          Float(Mul);
    "1110 1110 0D10 nnnn dddd 1010 N1M0 mmmm" "VNMUL T2"                         Float(Nmul);
    "1110 1110 0D11 nnnn dddd 1010 N0M0 mmmm" "VADD T2"                          Float(Add);
    "1110 1110 0D11 nnnn dddd 1010 N1M0 mmmm" "VSUB T2"                          Float(Sub);
    "1110 1110 1D00 nnnn dddd 1010 N0M0 mmmm" "VDIV T1"                          Float(Div);
    "1110 1110 1D01 nnnn dddd 1010 N0M0 mmmm" "VFNMS T1"                         Float(Fnms);
    "1110 1110 1D01 nnnn dddd 1010 N1M0 mmmm" "VFNMA T1"                         Float(Fnma);
    "1110 1110 1D10 nnnn dddd 1010 N0M0 mmmm" "VFMA T2"                          Float(Fma);
    "1110 1110 1D10 nnnn dddd 1010 N1M0 mmmm" "VFMS T2"                          Float(Fms);
    "1110 1110 1D11 iiii dddd 1010 0000 iiii" "VMOV (immediate) T2"              Float(Immediate), expanded;
    "1110 1110 1D11 0000 dddd 1010 01M0 mmmm" "VMOV (register) T2"               Float(Move);
    "1110 1110 1D11 0000 dddd 1010 11M0 mmmm" "VABS T2"                          Float(Abs);
    "1110 1110 1D11 0001 dddd 1010 01M0 mmmm" "VNEG T2"                          Float(Neg);
    "1110 1110 1D11 0001 dddd 1010 11M0 mmmm" "VSQRT T1"                         Float(Sqrt);
    "1110 1110 1D11 0010 dddd 1010 i1M0 mmmm" "VCVTB, VCVTT T1 (from half)"      Float(FromHalf);
    "1110 1110 1D11 0011 dddd 1010 i1M0 mmmm" "VCVTB, VCVTT T1 (to half)"        Float(ToHalf);
    "1110 1110 1D11 0100 dddd 1010 i1M0 mmmm" "VCMP, VCMPE T1"                   Float(Compare);
    "1110 1110 1D11 0101 dddd 1010 i1-0 ----" "VCMP, VCMPE T2"                   Float(CompareZero);
    "1110 1110 1D11 1000 dddd 1010 i1M0 mmmm" "VCVT (from integer) T1"           Float(FromInteger);
    "1110 1110 1D11 110- dddd 1010 -1M0 mmmm" "VCVT, VCVTR (to integer) T1"      Float(ToInteger), to_integer;
    "1110 1110 1D11 101- dddd 1010 -1M0 mmmm" "VCVT (from fixed point) T1"       Float(FromFixed), fixed;
    "1110 1110 1D11 111- dddd 1010 -1M0 mmmm" "VCVT (to fixed point) T1"         Float(ToFixed), fixed;
    "1110 1110 0000 nnnn aaaa 1010 N001 0000" "VMOV (core to single) T1"         Float(FromCore);
    "1110 1110 0001 nnnn aaaa 1010 N001 0000" "VMOV (single to core) T1"         Float(ToCore);
    "1110 1110 00N0 nnnn aaaa 1011 -001 0000" "VMOV (core to scalar) T1"         Float(FromCore);
    "1110 1110 00N1 nnnn aaaa 1011 -001 0000" "VMOV (scalar to core) T1"         Float(ToCore);
    "1110 1110 1110 0001 aaaa 1010 0001 0000" "VMSR T1"                          Float(ToFpscr);
    "1110 1110 1111 0001 aaaa 1010 0001 0000" "VMRS T1"                          Float(FromFpscr);
    "1110 1100 0100 nnnn aaaa 1010 00M1 mmmm" "VMOV (pair to singles) T1"        Float(FromCorePair);
    "1110 1100 0101 nnnn aaaa 1010 00M1 mmmm" "VMOV (singles to pair) T1"        Float(ToCorePair);
    "1110 1100 0100 nnnn aaaa 1011 0001 mmmm" "VMOV (pair to double) T1"         Float(FromCorePair), double;
    "1110 1100 0101 nnnn aaaa 1011 0001 mmmm" "VMOV (double to pair) T1"         Float(ToCorePair), double;
    "1110 1101 UD00 nnnn dddd 101- wwww wwww" "VSTR"                             Float(Store), single;
    "1110 1101 UD01 nnnn dddd 101- wwww wwww" "VLDR"                             Float(Load), single;
    "1110 1100 1D-0 nnnn dddd 101- wwww wwww" "VSTM (increment after)"           Float(StoreMultiple), multiple;
    "1110 1100 1D-1 nnnn dddd 101- wwww wwww" "VLDM (increment after), VPOP"     Float(LoadMultiple), multiple;
    "1110 1101 0D10 nnnn dddd 101- wwww wwww" "VSTM (decrement before), VPUSH"   Float(StoreMultiple), multiple;
    "1110 1101 0D11 nnnn dddd 101- wwww wwww" "VLDM (decrement before)"          Float(LoadMultiple), multiple;
};

/// `VFPExpandImm` (A6.4.1).
fn expanded(op: &mut Op, _: u32, _: u32) {
    let imm8 = op.imm;
    let exponent = if bit(imm8, 6) {
        0x3E00_0000
    } else {
        0x4000_0000
    };
    op.imm = bits(imm8, 7, 7) << 31 | exponent | bits(imm8, 5, 0) << 19;
}

fn to_integer(op: &mut Op, o: u32, _: u32) {
    op.imm = bits(o, 16, 16) | bits(o, 7, 7) << 1;
}

/// Fraction bits = size − imm4:i.
fn fixed(op: &mut Op, o: u32, _: u32) {
    let size = if bit(o, 7) { 32u8 } else { 16 };
    op.amount = size.saturating_sub((bits(o, 3, 0) << 1 | bits(o, 5, 5)) as u8);
    op.imm = !bit(o, 16) as u32 | bits(o, 7, 7) << 1;
}

/// A D register is the S register of twice its number, and the next.
fn double(op: &mut Op, _: u32, _: u32) {
    op.m <<= 1;
}

/// A transfer of one S register or, if bit 8 is set, of the two of a D register. FPv4-SP has no D
/// registers above 15, so bit 22 is only used as the low bit of an S register's number.
fn single(op: &mut Op, o: u32, _: u32) {
    op.amount = 1 + bit(o, 8) as u8;
    op.d &= !(bit(o, 8) as u8);
}

/// Post moves the base up afterwards, Pre moves it down before. imm8 counts words. `imm` is how
/// many bytes the base moves. With doubles and an odd imm8 (FLDMX, FSTMX) that is one word more
/// than is transferred.
fn multiple(op: &mut Op, o: u32, _: u32) {
    let doubles = bit(o, 8) as u8;
    op.d &= !doubles;
    op.amount = bits(o, 7, 0) as u8 & !doubles;
    op.index = match (bit(o, 24), bit(o, 21)) {
        (true, _) => Index::Pre,
        (false, true) => Index::Post,
        (false, false) => Index::Offset,
    };
}
