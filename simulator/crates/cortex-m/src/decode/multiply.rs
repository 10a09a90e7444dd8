//! Multiplication and division (A5.3.16, A5.3.17). `amount`: bits 5:4 choose halves, exchange or
//! rounding.

use super::op::Kind::Multiply;
use super::op::Multiply::*;
use super::op::Op;
use super::row::{outside_it, rows, Row};

pub const NARROW: &[Row] = rows! {
    "0100 0011 01nn nddd" "MUL T1"                           Multiply(Mul), outside_it, in_place;
};

pub const WIDE: &[Row] = rows! {
    "1111 1011 0000 nnnn 1111 dddd 0000 mmmm" "MUL T2"                           Multiply(Mul);
    "1111 1011 0000 nnnn aaaa dddd 0000 mmmm" "MLA T1"                           Multiply(Mla);
    "1111 1011 0000 nnnn aaaa dddd 0001 mmmm" "MLS T1"                           Multiply(Mls);
    "1111 1011 0001 nnnn aaaa dddd 00ss mmmm" "SMULxy, SMLAxy T1"                Multiply(SmlaHalves);
    "1111 1011 0010 nnnn aaaa dddd 000s mmmm" "SMUAD, SMLAD T1"                  Multiply(Smlad);
    "1111 1011 0011 nnnn aaaa dddd 000s mmmm" "SMULWy, SMLAWy T1"                Multiply(SmlaWide);
    "1111 1011 0100 nnnn aaaa dddd 000s mmmm" "SMUSD, SMLSD T1"                  Multiply(Smlsd);
    "1111 1011 0101 nnnn aaaa dddd 000s mmmm" "SMMUL, SMMLA T1"                  Multiply(Smmla);
    "1111 1011 0110 nnnn aaaa dddd 000s mmmm" "SMMLS T1"                         Multiply(Smmls);
    "1111 1011 0111 nnnn aaaa dddd 0000 mmmm" "USAD8, USADA8 T1"                 Multiply(Usada8);
    "1111 1011 1000 nnnn dddd aaaa 0000 mmmm" "SMULL T1"                         Multiply(Smull);
    "1111 1011 1001 nnnn 1111 dddd 1111 mmmm" "SDIV T1"                          Multiply(Sdiv);
    "1111 1011 1010 nnnn dddd aaaa 0000 mmmm" "UMULL T1"                         Multiply(Umull);
    "1111 1011 1011 nnnn 1111 dddd 1111 mmmm" "UDIV T1"                          Multiply(Udiv);
    "1111 1011 1100 nnnn dddd aaaa 0000 mmmm" "SMLAL T1"                         Multiply(Smlal);
    "1111 1011 1100 nnnn dddd aaaa 10ss mmmm" "SMLALxy T1"                       Multiply(SmlalHalves);
    "1111 1011 1100 nnnn dddd aaaa 110s mmmm" "SMLALD T1"                        Multiply(Smlald);
    "1111 1011 1101 nnnn dddd aaaa 110s mmmm" "SMLSLD T1"                        Multiply(Smlsld);
    "1111 1011 1110 nnnn dddd aaaa 0000 mmmm" "UMLAL T1"                         Multiply(Umlal);
    "1111 1011 1110 nnnn dddd aaaa 0110 mmmm" "UMAAL T1"                         Multiply(Umaal);
};

/// Rd is Rm too.
fn in_place(op: &mut Op, _: u32, _: u32) {
    op.m = op.d;
}
