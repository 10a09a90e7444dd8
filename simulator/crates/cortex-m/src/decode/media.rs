//! Bit fields, extensions, reversals, saturation and packed arithmetic (A5.2.5, A5.3.3,
//! A5.3.12–A5.3.15).

use super::op::Kind::{Media, System};
use super::op::Media::*;
use super::op::Op;
use super::op::System::PermanentlyUndefined;
use super::row::{bit, bits, rows, sixteen, Row};

pub const NARROW: &[Row] = rows! {
    "1011 0010 00mm mddd" "SXTH T1"                          Media(Sxtah), without_addend;
    "1011 0010 01mm mddd" "SXTB T1"                          Media(Sxtab), without_addend;
    "1011 0010 10mm mddd" "UXTH T1"                          Media(Uxtah), without_addend;
    "1011 0010 11mm mddd" "UXTB T1"                          Media(Uxtab), without_addend;
    "1011 1010 00mm mddd" "REV T1"                           Media(Rev), without_addend;
    "1011 1010 01mm mddd" "REV16 T1"                         Media(Rev16), without_addend;
    "1011 1010 11mm mddd" "REVSH T1"                         Media(Revsh), without_addend;
};

pub const WIDE: &[Row] = rows! {
    "1111 0i10 1100 ---- 0iii dddd iiii iiii" "MOVT T1"                          Media(Movt), sixteen;
    "1111 0011 0010 nnnn 0000 dddd 00-- iiii" "SSAT16 T1"                        Media(Ssat16), plus_1;
    "1111 0011 00T0 nnnn 0sss dddd ss0i iiii" "SSAT T1"                          Media(Ssat), plus_1;
    "1111 0011 1010 nnnn 0000 dddd 00-- iiii" "USAT16 T1"                        Media(Usat16);
    "1111 0011 10T0 nnnn 0sss dddd ss0i iiii" "USAT T1"                          Media(Usat);
    "1111 0011 0100 nnnn 0sss dddd ss0i iiii" "SBFX T1"                          Media(Sbfx), plus_1;
    "1111 0011 1100 nnnn 0sss dddd ss0i iiii" "UBFX T1"                          Media(Ubfx), plus_1;
    "1111 0011 0110 nnnn 0sss dddd ss0i iiii" "BFI, BFC T1"                      Media(Bfi);
    "1110 1010 1100 nnnn 0sss dddd ssT0 mmmm" "PKHBT, PKHTB T1"                  Media(Pkhbt), packed;
    "1111 1010 0000 nnnn 1111 dddd 10ss mmmm" "SXTH T2, SXTAH T1"                Media(Sxtah), rotated;
    "1111 1010 0001 nnnn 1111 dddd 10ss mmmm" "UXTH T2, UXTAH T1"                Media(Uxtah), rotated;
    "1111 1010 0010 nnnn 1111 dddd 10ss mmmm" "SXTB16, SXTAB16 T1"               Media(Sxtab16), rotated;
    "1111 1010 0011 nnnn 1111 dddd 10ss mmmm" "UXTB16, UXTAB16 T1"               Media(Uxtab16), rotated;
    "1111 1010 0100 nnnn 1111 dddd 10ss mmmm" "SXTB T2, SXTAB T1"                Media(Sxtab), rotated;
    "1111 1010 0101 nnnn 1111 dddd 10ss mmmm" "UXTB T2, UXTAB T1"                Media(Uxtab), rotated;
    "1111 1010 1000 nnnn 1111 dddd 1000 mmmm" "QADD T1"                          Media(Qadd);
    "1111 1010 1000 nnnn 1111 dddd 1001 mmmm" "QDADD T1"                         Media(Qdadd);
    "1111 1010 1000 nnnn 1111 dddd 1010 mmmm" "QSUB T1"                          Media(Qsub);
    "1111 1010 1000 nnnn 1111 dddd 1011 mmmm" "QDSUB T1"                         Media(Qdsub);
    "1111 1010 1001 nnnn 1111 dddd 1000 mmmm" "REV T2"                           Media(Rev);
    "1111 1010 1001 nnnn 1111 dddd 1001 mmmm" "REV16 T2"                         Media(Rev16);
    "1111 1010 1001 nnnn 1111 dddd 1010 mmmm" "RBIT T1"                          Media(Rbit);
    "1111 1010 1001 nnnn 1111 dddd 1011 mmmm" "REVSH T2"                         Media(Revsh);
    "1111 1010 1010 nnnn 1111 dddd 1000 mmmm" "SEL T1"                           Media(Sel);
    "1111 1010 1011 nnnn 1111 dddd 1000 mmmm" "CLZ T1"                           Media(Clz);
    // No packed operation has the prefixes 011 and 111.
    "1111 1010 1--- ---- 1111 ---- 0-11 ----" "UNDEFINED (packed arithmetic)"    System(PermanentlyUndefined);
    "1111 1010 1000 nnnn 1111 dddd 0iii mmmm" "xADD8 T1"                         Media(Parallel), parallel;
    "1111 1010 1001 nnnn 1111 dddd 0iii mmmm" "xADD16 T1"                        Media(Parallel), parallel;
    "1111 1010 1010 nnnn 1111 dddd 0iii mmmm" "xASX T1"                          Media(Parallel), parallel;
    "1111 1010 1100 nnnn 1111 dddd 0iii mmmm" "xSUB8 T1"                         Media(Parallel), parallel;
    "1111 1010 1101 nnnn 1111 dddd 0iii mmmm" "xSUB16 T1"                        Media(Parallel), parallel;
    "1111 1010 1110 nnnn 1111 dddd 0iii mmmm" "xSAX T1"                          Media(Parallel), parallel;
};

fn without_addend(op: &mut Op, _: u32, _: u32) {
    op.n = 15;
}

fn plus_1(op: &mut Op, _: u32, _: u32) {
    op.imm += 1;
}

/// A rotation by whole bytes.
fn rotated(op: &mut Op, _: u32, _: u32) {
    op.amount *= 8;
}

fn packed(op: &mut Op, o: u32, _: u32) {
    if bit(o, 5) {
        op.kind = Media(Pkhtb);
    }
}

fn parallel(op: &mut Op, o: u32, _: u32) {
    op.amount = bits(o, 22, 20) as u8;
}
