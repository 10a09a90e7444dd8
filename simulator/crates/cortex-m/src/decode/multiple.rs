//! Loads and stores of several registers (A5.2.5, A5.2.6, A5.3.5).

use super::op::Kind::Multiple;
use super::op::Multiple::*;
use super::op::{Index, Op};
use super::row::{bit, bits, from_sp, rows, Row};

pub const NARROW: &[Row] = rows! {
    "1011 010- ---- ----" "PUSH T1"                          Multiple(StoreDecrementBefore), from_sp, pushed;
    "1011 110- ---- ----" "POP T1"                           Multiple(LoadIncrementAfter), from_sp, popped;
    "1100 0nnn ---- ----" "STM T1"                           Multiple(StoreIncrementAfter), stored;
    "1100 1nnn ---- ----" "LDM T1"                           Multiple(LoadIncrementAfter), loaded;
};

pub const WIDE: &[Row] = rows! {
    "1110 1000 10-0 nnnn 0-0- ---- ---- ----" "STM T2"                           Multiple(StoreIncrementAfter), wide;
    "1110 1000 10-1 nnnn --0- ---- ---- ----" "LDM T2, POP T2"                   Multiple(LoadIncrementAfter), wide;
    "1110 1001 00-0 nnnn 0-0- ---- ---- ----" "STMDB T1, PUSH T2"                Multiple(StoreDecrementBefore), wide;
    "1110 1001 00-1 nnnn --0- ---- ---- ----" "LDMDB T1"                         Multiple(LoadDecrementBefore), wide;
};

fn list(op: &mut Op, registers: u32, written_back: bool) {
    op.imm = registers;
    op.amount = registers.count_ones() as u8;
    op.index = if written_back {
        Index::Pre
    } else {
        Index::Offset
    };
}

fn pushed(op: &mut Op, o: u32, _: u32) {
    list(op, bits(o, 7, 0) | bits(o, 8, 8) << 14, true);
}

fn popped(op: &mut Op, o: u32, _: u32) {
    list(op, bits(o, 7, 0) | bits(o, 8, 8) << 15, true);
}

fn stored(op: &mut Op, o: u32, _: u32) {
    list(op, bits(o, 7, 0), true);
}

/// A base in the list is loaded, not updated.
fn loaded(op: &mut Op, o: u32, _: u32) {
    list(op, bits(o, 7, 0), !bit(o, op.n.into()));
}

fn wide(op: &mut Op, o: u32, _: u32) {
    list(op, bits(o, 15, 0), bit(o, 21));
}
