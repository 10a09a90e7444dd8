//! Single, double and exclusive loads and stores (A5.2.4, A5.3.6–A5.3.10).

use super::op::Access::*;
use super::op::Kind::{Memory, System};
use super::op::Memory::*;
use super::op::System::{Hint, PermanentlyUndefined};
use super::op::{Index, Op};
use super::row::{from_sp, pc_relative, rows, Row};

pub const NARROW: &[Row] = rows! {
    "0100 1ddd wwww wwww" "LDR (literal) T1"                 Memory(LoadLiteral(Word)), pc_relative;
    "0101 000m mmnn nddd" "STR (register) T1"                Memory(StoreRegister(Word));
    "0101 001m mmnn nddd" "STRH (register) T1"               Memory(StoreRegister(Half));
    "0101 010m mmnn nddd" "STRB (register) T1"               Memory(StoreRegister(Byte));
    "0101 011m mmnn nddd" "LDRSB (register) T1"              Memory(LoadRegister(SignedByte));
    "0101 100m mmnn nddd" "LDR (register) T1"                Memory(LoadRegister(Word));
    "0101 101m mmnn nddd" "LDRH (register) T1"               Memory(LoadRegister(Half));
    "0101 110m mmnn nddd" "LDRB (register) T1"               Memory(LoadRegister(Byte));
    "0101 111m mmnn nddd" "LDRSH (register) T1"              Memory(LoadRegister(SignedHalf));
    "0110 0www wwnn nddd" "STR (immediate) T1"               Memory(Store(Word));
    "0110 1www wwnn nddd" "LDR (immediate) T1"               Memory(Load(Word));
    "0111 0iii iinn nddd" "STRB (immediate) T1"              Memory(Store(Byte));
    "0111 1iii iinn nddd" "LDRB (immediate) T1"              Memory(Load(Byte));
    "1000 0hhh hhnn nddd" "STRH (immediate) T1"              Memory(Store(Half));
    "1000 1hhh hhnn nddd" "LDRH (immediate) T1"              Memory(Load(Half));
    "1001 0ddd wwww wwww" "STR (immediate) T2"               Memory(Store(Word)), from_sp;
    "1001 1ddd wwww wwww" "LDR (immediate) T2"               Memory(Load(Word)), from_sp;
};

pub const WIDE: &[Row] = rows! {
    "1110 1000 0100 nnnn dddd aaaa wwww wwww" "STREX T1"                         Memory(StoreExclusive(Word));
    "1110 1000 0101 nnnn dddd 1111 wwww wwww" "LDREX T1"                         Memory(LoadExclusive(Word));
    "1110 1000 1100 nnnn dddd 1111 0100 aaaa" "STREXB T1"                        Memory(StoreExclusive(Byte));
    "1110 1000 1100 nnnn dddd 1111 0101 aaaa" "STREXH T1"                        Memory(StoreExclusive(Half));
    "1110 1000 1101 nnnn dddd 1111 0100 1111" "LDREXB T1"                        Memory(LoadExclusive(Byte));
    "1110 1000 1101 nnnn dddd 1111 0101 1111" "LDREXH T1"                        Memory(LoadExclusive(Half));
    // Doubles. P = 0 with W = 0 encodes the exclusives and table branches.
    "1110 1000 U110 nnnn dddd mmmm wwww wwww" "STRD (immediate) T1, post-indexed" Memory(StoreDouble), post_indexed;
    "1110 1000 U111 nnnn dddd mmmm wwww wwww" "LDRD (immediate) T1, post-indexed" Memory(LoadDouble), post_indexed;
    "1110 1001 U1W0 nnnn dddd mmmm wwww wwww" "STRD (immediate) T1"              Memory(StoreDouble);
    "1110 1001 U1W1 nnnn dddd mmmm wwww wwww" "LDRD (immediate) T1"              Memory(LoadDouble);
    // A byte or halfword load with Rt = 15 is a hint: PLD, PLI, or reserved and without effect.
    "1111 1000 -0-1 1111 1111 ---- ---- ----" "PLD (literal)"                    System(Hint);
    "1111 1001 -0-1 1111 1111 ---- ---- ----" "PLI (literal)"                    System(Hint);
    "1111 1000 10-1 ---- 1111 ---- ---- ----" "PLD (immediate) T1"               System(Hint);
    "1111 1000 00-1 ---- 1111 0000 00-- ----" "PLD (register) T1"                System(Hint);
    "1111 1000 00-1 ---- 1111 1100 ---- ----" "PLD (immediate) T2"               System(Hint);
    "1111 1001 10-1 ---- 1111 ---- ---- ----" "PLI (immediate) T1"               System(Hint);
    "1111 1001 00-1 ---- 1111 0000 00-- ----" "PLI (register) T1"                System(Hint);
    "1111 1001 00-1 ---- 1111 1100 ---- ----" "PLI (immediate) T2"               System(Hint);
    "1111 1000 U001 1111 dddd iiii iiii iiii" "LDRB (literal) T1"                Memory(LoadLiteral(Byte)), pc_relative;
    "1111 1000 U011 1111 dddd iiii iiii iiii" "LDRH (literal) T1"                Memory(LoadLiteral(Half)), pc_relative;
    "1111 1000 U101 1111 dddd iiii iiii iiii" "LDR (literal) T2"                 Memory(LoadLiteral(Word)), pc_relative;
    "1111 1001 U001 1111 dddd iiii iiii iiii" "LDRSB (literal) T1"               Memory(LoadLiteral(SignedByte)), pc_relative;
    "1111 1001 U011 1111 dddd iiii iiii iiii" "LDRSH (literal) T1"               Memory(LoadLiteral(SignedHalf)), pc_relative;
    "1111 1000 1000 nnnn dddd iiii iiii iiii" "STRB (immediate) T2"              Memory(Store(Byte));
    "1111 1000 1010 nnnn dddd iiii iiii iiii" "STRH (immediate) T2"              Memory(Store(Half));
    "1111 1000 1100 nnnn dddd iiii iiii iiii" "STR (immediate) T3"               Memory(Store(Word));
    "1111 1000 1001 nnnn dddd iiii iiii iiii" "LDRB (immediate) T2"              Memory(Load(Byte));
    "1111 1000 1011 nnnn dddd iiii iiii iiii" "LDRH (immediate) T2"              Memory(Load(Half));
    "1111 1000 1101 nnnn dddd iiii iiii iiii" "LDR (immediate) T3"               Memory(Load(Word));
    "1111 1001 1001 nnnn dddd iiii iiii iiii" "LDRSB (immediate) T1"             Memory(Load(SignedByte));
    "1111 1001 1011 nnnn dddd iiii iiii iiii" "LDRSH (immediate) T1"             Memory(Load(SignedHalf));
    // Neither indexed nor written back: UNDEFINED.
    "1111 100- 0--- ---- ---- 10-0 ---- ----" "UNDEFINED (load or store)"        System(PermanentlyUndefined);
    "1111 1000 0000 nnnn dddd 1110 iiii iiii" "STRBT T1"                         Memory(StoreUnprivileged(Byte));
    "1111 1000 0010 nnnn dddd 1110 iiii iiii" "STRHT T1"                         Memory(StoreUnprivileged(Half));
    "1111 1000 0100 nnnn dddd 1110 iiii iiii" "STRT T1"                          Memory(StoreUnprivileged(Word));
    "1111 1000 0001 nnnn dddd 1110 iiii iiii" "LDRBT T1"                         Memory(LoadUnprivileged(Byte));
    "1111 1000 0011 nnnn dddd 1110 iiii iiii" "LDRHT T1"                         Memory(LoadUnprivileged(Half));
    "1111 1000 0101 nnnn dddd 1110 iiii iiii" "LDRT T1"                          Memory(LoadUnprivileged(Word));
    "1111 1001 0001 nnnn dddd 1110 iiii iiii" "LDRSBT T1"                        Memory(LoadUnprivileged(SignedByte));
    "1111 1001 0011 nnnn dddd 1110 iiii iiii" "LDRSHT T1"                        Memory(LoadUnprivileged(SignedHalf));
    "1111 1000 0000 nnnn dddd 1PUW iiii iiii" "STRB (immediate) T3"              Memory(Store(Byte));
    "1111 1000 0010 nnnn dddd 1PUW iiii iiii" "STRH (immediate) T3"              Memory(Store(Half));
    "1111 1000 0100 nnnn dddd 1PUW iiii iiii" "STR (immediate) T4"               Memory(Store(Word));
    "1111 1000 0001 nnnn dddd 1PUW iiii iiii" "LDRB (immediate) T3"              Memory(Load(Byte));
    "1111 1000 0011 nnnn dddd 1PUW iiii iiii" "LDRH (immediate) T3"              Memory(Load(Half));
    "1111 1000 0101 nnnn dddd 1PUW iiii iiii" "LDR (immediate) T4"               Memory(Load(Word));
    "1111 1001 0001 nnnn dddd 1PUW iiii iiii" "LDRSB (immediate) T2"             Memory(Load(SignedByte));
    "1111 1001 0011 nnnn dddd 1PUW iiii iiii" "LDRSH (immediate) T2"             Memory(Load(SignedHalf));
    "1111 1000 0000 nnnn dddd 0000 00ss mmmm" "STRB (register) T2"               Memory(StoreRegister(Byte));
    "1111 1000 0010 nnnn dddd 0000 00ss mmmm" "STRH (register) T2"               Memory(StoreRegister(Half));
    "1111 1000 0100 nnnn dddd 0000 00ss mmmm" "STR (register) T2"                Memory(StoreRegister(Word));
    "1111 1000 0001 nnnn dddd 0000 00ss mmmm" "LDRB (register) T2"               Memory(LoadRegister(Byte));
    "1111 1000 0011 nnnn dddd 0000 00ss mmmm" "LDRH (register) T2"               Memory(LoadRegister(Half));
    "1111 1000 0101 nnnn dddd 0000 00ss mmmm" "LDR (register) T2"                Memory(LoadRegister(Word));
    "1111 1001 0001 nnnn dddd 0000 00ss mmmm" "LDRSB (register) T2"              Memory(LoadRegister(SignedByte));
    "1111 1001 0011 nnnn dddd 0000 00ss mmmm" "LDRSH (register) T2"              Memory(LoadRegister(SignedHalf));
};

fn post_indexed(op: &mut Op, _: u32, _: u32) {
    op.index = Index::Post;
}
