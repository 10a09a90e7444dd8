//! Branches and IT (A5.2.3, A5.2.5, A5.2.6, A5.3.4, A5.3.6).

use super::op::Branch::*;
use super::op::Kind::Branch;
use super::op::Op;
use super::row::{bit, bits, rows, sign_extend, Row};

pub const NARROW: &[Row] = rows! {
    "0100 0111 0mmm m000" "BX T1"                            Branch(Exchange);
    "0100 0111 1mmm m000" "BLX (register) T1"                Branch(LinkExchange);
    "1011 00h1 hhhh hnnn" "CBZ T1"                           Branch(IfZero), to;
    "1011 10h1 hhhh hnnn" "CBNZ T1"                          Branch(IfNotZero), to;
    // Conditions 1110 and 1111 are UDF and SVC.
    "1101 0--- ---- ----" "B T1"                             Branch(Conditional), conditional;
    "1101 10-- ---- ----" "B T1"                             Branch(Conditional), conditional;
    "1101 110- ---- ----" "B T1"                             Branch(Conditional), conditional;
    "1110 0hhh hhhh hhhh" "B T2"                             Branch(Always), near;
    // A zero mask is a hint.
    "1011 1111 ---- 1---" "IT T1"                            Branch(It), state;
    "1011 1111 ---- 01--" "IT T1"                            Branch(It), state;
    "1011 1111 ---- 001-" "IT T1"                            Branch(It), state;
    "1011 1111 ---- 0001" "IT T1"                            Branch(It), state;
};

pub const WIDE: &[Row] = rows! {
    "1110 1000 1101 nnnn 1111 0000 0000 mmmm" "TBB T1"                           Branch(TableByte);
    "1110 1000 1101 nnnn 1111 0000 0001 mmmm" "TBH T1"                           Branch(TableHalf);
    "1111 0--- ---- ---- 10-1 ---- ---- ----" "B T4"                             Branch(Always), far;
    "1111 0--- ---- ---- 11-1 ---- ---- ----" "BL T1"                            Branch(Link), far;
    // Conditions 111x encode the system instructions.
    "1111 0-0- ---- ---- 10-0 ---- ---- ----" "B T3"                             Branch(Conditional), wide_conditional;
    "1111 0-10 ---- ---- 10-0 ---- ---- ----" "B T3"                             Branch(Conditional), wide_conditional;
    "1111 0-11 0--- ---- 10-0 ---- ---- ----" "B T3"                             Branch(Conditional), wide_conditional;
};

fn state(op: &mut Op, o: u32, _: u32) {
    op.imm = bits(o, 7, 0);
}

/// A branch by `imm` from the PC as the instruction reads it.
fn to(op: &mut Op, _: u32, address: u32) {
    op.imm = op.imm.wrapping_add(address).wrapping_add(4);
}

fn near(op: &mut Op, o: u32, address: u32) {
    op.imm = sign_extend(op.imm, 12);
    to(op, o, address);
}

fn conditional(op: &mut Op, o: u32, address: u32) {
    op.amount = bits(o, 11, 8) as u8;
    op.imm = sign_extend(bits(o, 7, 0) << 1, 9);
    to(op, o, address);
}

fn wide_conditional(op: &mut Op, o: u32, address: u32) {
    let offset = bits(o, 26, 26) << 20
        | bits(o, 11, 11) << 19
        | bits(o, 13, 13) << 18
        | bits(o, 21, 16) << 12
        | bits(o, 10, 0) << 1;
    op.amount = bits(o, 25, 22) as u8;
    op.imm = sign_extend(offset, 21);
    to(op, o, address);
}

/// S:I1:I2:imm10:imm11:0, where I = NOT(J EOR S).
fn far(op: &mut Op, o: u32, address: u32) {
    let sign = bit(o, 26);
    let i1 = (bit(o, 13) == sign) as u32;
    let i2 = (bit(o, 11) == sign) as u32;
    let offset =
        (sign as u32) << 24 | i1 << 23 | i2 << 22 | bits(o, 25, 16) << 12 | bits(o, 10, 0) << 1;
    op.imm = sign_extend(offset, 25);
    to(op, o, address);
}
