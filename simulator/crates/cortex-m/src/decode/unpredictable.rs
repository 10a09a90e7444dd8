//! Encodings that the tables cover but for which the manual gives no result: they are
//! UNPREDICTABLE, or name registers that the chip does not have. What a Cortex-M4 does with them is
//! not documented, so the run stops.
//!
//! The rules are those of the encoding diagrams (bits in parentheses) and of the decode pseudocode
//! in A7.7. They are grouped as in A5.2 and A5.3.

use super::op::{Alu, Branch, Kind, Memory, Multiple, Op, SetFlags, System};
use super::row::{bit, bits, fixed_bits, reg};

/// The group whose rule makes `opcode` UNPREDICTABLE. `None` if it has a result.
pub fn unpredictable(opcode: u32, wide: bool) -> Option<&'static str> {
    let rules = if wide { WIDE } else { NARROW };
    rules
        .iter()
        .find(|rule| opcode & rule.mask == rule.value && (rule.broken)(opcode))
        .map(|rule| rule.group)
}

/// Whether the instruction may not stand at its place in an IT block. Some may not stand in one at
/// all, others only at its end (the `InITBlock()` tests of A7.7).
pub fn misplaced_in_it(op: &Op, last: bool) -> bool {
    match op.kind {
        Kind::Branch(Branch::Conditional | Branch::IfZero | Branch::IfNotZero | Branch::It)
        | Kind::System(System::Cps) => true,
        // MOVS Rd, Rm (T2) always sets the flags.
        Kind::Register(Alu::Mov) => op.flags == SetFlags::OutsideIt,
        _ => !last && writes_pc(op),
    }
}

fn writes_pc(op: &Op) -> bool {
    match op.kind {
        Kind::Branch(_) => true,
        Kind::Memory(Memory::Load(_) | Memory::LoadRegister(_) | Memory::LoadLiteral(_)) => {
            op.d == 15
        }
        Kind::Multiple(Multiple::LoadIncrementAfter | Multiple::LoadDecrementBefore) => {
            bit(op.imm, 15)
        }
        _ => false,
    }
}

struct Rule {
    mask: u32,
    value: u32,
    group: &'static str,
    broken: fn(u32) -> bool,
}

const fn rule(pattern: &str, group: &'static str, broken: fn(u32) -> bool) -> Rule {
    let (mask, value) = fixed_bits(pattern);
    Rule {
        mask,
        value,
        group,
        broken,
    }
}

const NARROW: &[Rule] = &[
    rule("0100 0101 ---- ----", "CMP (register) T2", |o| {
        let (n, m) = (bits(o, 7, 7) << 3 | bits(o, 2, 0), bits(o, 6, 3));
        n == 15 || m == 15 || n < 8 && m < 8
    }),
    rule("0100 0100 1111 1111", "ADD (register) T2", |_| true),
    rule("0100 0111 1111 1---", "BLX (register) T1", |_| true),
    rule("1011 010- ---- ----", "PUSH T1", |o| bits(o, 8, 0) == 0),
    rule("1011 110- ---- ----", "POP T1", |o| bits(o, 8, 0) == 0),
    rule("1100 0--- ---- ----", "STM T1", |o| {
        let (list, n) = (bits(o, 7, 0), bits(o, 10, 8));
        list == 0 || bit(list, n) && list.trailing_zeros() != n
    }),
    rule("1100 1--- ---- ----", "LDM T1", |o| bits(o, 7, 0) == 0),
    rule("1011 0110 011- 0---", "CPS T1", |o| bits(o, 1, 0) == 0),
    rule("1011 1111 ---- ----", "IT T1", |o| {
        let (condition, mask) = (bits(o, 7, 4), bits(o, 3, 0));
        mask != 0 && (condition == 15 || condition == 14 && mask.count_ones() != 1)
    }),
];

const WIDE: &[Rule] = &[
    rule(
        "1110 101- ---- ---- ---- ---- ---- ----",
        "data processing (shifted register), A5.3.11",
        shifted_register,
    ),
    rule(
        "1111 0-0- ---- ---- 0--- ---- ---- ----",
        "data processing (modified immediate), A5.3.1",
        modified_immediate,
    ),
    rule(
        "1111 0-1- ---- ---- 0--- ---- ---- ----",
        "data processing (plain binary immediate), A5.3.3",
        plain_immediate,
    ),
    rule(
        "1111 1010 ---- ---- ---- ---- ---- ----",
        "data processing (register), A5.3.12",
        register,
    ),
    rule(
        "1111 1011 0--- ---- ---- ---- ---- ----",
        "multiplication, A5.3.16",
        multiplication,
    ),
    rule(
        "1111 1011 1--- ---- ---- ---- ---- ----",
        "long multiplication and division, A5.3.17",
        long_multiplication,
    ),
    rule(
        "1110 100- -0-- ---- ---- ---- ---- ----",
        "load and store multiple, A5.3.5",
        multiple,
    ),
    rule(
        "1110 100- -1-- ---- ---- ---- ---- ----",
        "load and store double or exclusive, table branch, A5.3.6",
        double_or_exclusive,
    ),
    rule(
        "1111 100- ---- ---- ---- ---- ---- ----",
        "load and store single, A5.3.7 to A5.3.10",
        single,
    ),
    rule("1111 0011 100- ---- 10-0 ---- ---- ----", "MSR T1", |o| {
        banned(reg(o, 16)) || bit(o, 20) || bit(o, 13) || bits(o, 9, 8) != 0
    }),
    rule("1111 0011 111- ---- 10-0 ---- ---- ----", "MRS T1", |o| {
        banned(reg(o, 8)) || bits(o, 20, 16) != 15 || bit(o, 13)
    }),
    rule(
        "1111 0011 1010 ---- 10-0 -000 ---- ----",
        "hints, A5.3.4",
        |o| reg(o, 16) != 15 || bit(o, 13) || bit(o, 11),
    ),
    rule(
        "1111 0011 1011 ---- 10-0 ---- ---- ----",
        "CLREX and barriers, A5.3.4",
        |o| {
            let clrex = bits(o, 7, 4) == 2;
            reg(o, 16) != 15 || bit(o, 13) || reg(o, 8) != 15 || clrex && reg(o, 0) != 15
        },
    ),
    rule(
        "1110 1110 1-11 1-1- ---- 1010 -1-0 ----",
        "VCVT (fixed point) T1",
        |o| !bit(o, 7) && (bits(o, 3, 0) << 1 | bits(o, 5, 5)) > 16,
    ),
    rule(
        "1110 1110 1-11 0101 ---- 1010 -1-0 ----",
        "VCMP, VCMPE T2",
        |o| bit(o, 5) || bits(o, 3, 0) != 0,
    ),
    rule(
        "1110 1110 ---- ---- ---- 1010 ---1 ----",
        "VMOV, VMSR, VMRS, A6.6",
        |o| {
            let vmrs = o & 0xFFFF0000 == 0xEEF10000;
            reg(o, 12) == 13 || reg(o, 12) == 15 && !vmrs
        },
    ),
    rule(
        "1110 1110 ---- ---- ---- 1011 ---1 ----",
        "VMOV (scalar), A6.6",
        |o| banned(reg(o, 12)) || bit(o, 7),
    ),
    rule(
        "1110 1100 010- ---- ---- 101- ---- ----",
        "VMOV (two core registers), A6.7",
        |o| {
            let (to_core, last_single) = (bit(o, 20), !bit(o, 8) && bit(o, 5) && reg(o, 0) == 15);
            banned(reg(o, 12))
                || banned(reg(o, 16))
                || to_core && reg(o, 12) == reg(o, 16)
                || last_single
        },
    ),
    rule(
        "1110 1101 --0- ---- ---- 101- ---- ----",
        "VLDR, VSTR",
        |o| bit(o, 8) && bit(o, 22) || !bit(o, 20) && reg(o, 16) == 15,
    ),
    rule(
        "1110 1100 1--- ---- ---- 101- ---- ----",
        "VLDM, VSTM (increment after)",
        float_list,
    ),
    rule(
        "1110 1101 0-1- ---- ---- 101- ---- ----",
        "VLDM, VSTM (decrement before)",
        float_list,
    ),
];

/// SP and PC, which most operands may not be.
fn banned(register: u8) -> bool {
    matches!(register, 13 | 15)
}

fn any_banned(o: u32) -> bool {
    banned(reg(o, 8)) || banned(reg(o, 16)) || banned(reg(o, 0))
}

fn immediate_5(o: u32) -> u32 {
    bits(o, 14, 12) << 2 | bits(o, 7, 6)
}

fn shifted_register(o: u32) -> bool {
    let (n, d, m) = (reg(o, 16), reg(o, 8), reg(o, 0));
    let compares = d == 15 && bit(o, 20);
    match bits(o, 24, 21) {
        0b0000 | 0b0100 if compares => banned(n) || banned(m),
        0b1000 | 0b1101 if compares => n == 15 || banned(m),
        0b1000 | 0b1101 if n == 13 => {
            let far = bits(o, 5, 4) != 0 || immediate_5(o) > 3;
            d == 15 || d == 13 && far || banned(m)
        }
        0b0010 if n == 15 => moves(o, d, m),
        0b0011 if n == 15 => banned(d) || banned(m),
        _ => any_banned(o),
    }
}

/// MOV (register) T3 may name SP once. Shifts by a constant may not name it.
fn moves(o: u32, d: u8, m: u8) -> bool {
    let plain = bits(o, 5, 4) == 0 && immediate_5(o) == 0 && !bit(o, 20);
    if plain {
        d == 15 || m == 15 || d == 13 && m == 13
    } else {
        banned(d) || banned(m)
    }
}

fn modified_immediate(o: u32) -> bool {
    let (n, d) = (reg(o, 16), reg(o, 8));
    let pattern = bits(o, 26, 26) << 3 | bits(o, 14, 12);
    let repeats_zero = matches!(pattern, 1..=3) && bits(o, 7, 0) == 0;
    let compares = d == 15 && bit(o, 20);
    repeats_zero
        || match bits(o, 24, 21) {
            0b0000 | 0b0100 if compares => banned(n),
            0b1000 | 0b1101 if compares => n == 15,
            0b1000 | 0b1101 if n == 13 => d == 15,
            0b0010 | 0b0011 if n == 15 => banned(d),
            _ => banned(d) || banned(n),
        }
}

fn plain_immediate(o: u32) -> bool {
    let (n, d) = (reg(o, 16), reg(o, 8));
    match bits(o, 24, 20) {
        0b00000 | 0b01010 if n == 13 => d == 15,
        0b00000 | 0b01010 | 0b00100 | 0b01100 => banned(d),
        0b10100 | 0b11100 => banned(d) || banned(n) || immediate_5(o) + bits(o, 4, 0) > 31,
        0b10110 => banned(d) || n == 13 || bits(o, 4, 0) < immediate_5(o),
        _ => {
            let halfwords = bit(o, 21) && immediate_5(o) == 0;
            banned(d) || banned(n) || halfwords && bits(o, 5, 4) != 0
        }
    }
}

fn register(o: u32) -> bool {
    let (n, d, m) = (reg(o, 16), reg(o, 8), reg(o, 0));
    let second = bit(o, 7);
    match bits(o, 23, 20) {
        0b0000..=0b0101 if second => banned(d) || banned(m) || n == 13,
        // REV, CLZ and the like contain Rm twice.
        0b1001 | 0b1011 if second => banned(d) || banned(m) || n != m,
        _ => any_banned(o),
    }
}

fn multiplication(o: u32) -> bool {
    let a = reg(o, 12);
    let needs_addend = bits(o, 22, 20) == 6 || bits(o, 22, 20) == 0 && bits(o, 7, 4) == 1;
    any_banned(o) || a == 13 || needs_addend && a == 15
}

fn long_multiplication(o: u32) -> bool {
    let divides = bits(o, 7, 4) == 15;
    let (low, high) = (reg(o, 12), reg(o, 8));
    any_banned(o) || !divides && (banned(low) || low == high)
}

fn multiple(o: u32) -> bool {
    let (n, list) = (reg(o, 16), bits(o, 15, 0));
    let writes_back_into_list = bit(o, 21) && bit(list, n.into());
    let both = bit(o, 20) && list >> 14 == 3;
    n == 15 || list.count_ones() < 2 || writes_back_into_list || both
}

fn double_or_exclusive(o: u32) -> bool {
    let (n, t, d, m) = (reg(o, 16), reg(o, 12), reg(o, 8), reg(o, 0));
    let (loads, writes_back) = (bit(o, 20), bit(o, 21));
    match (bit(o, 24) || writes_back, bit(o, 23), loads) {
        (true, _, loads) => {
            let into_base = writes_back && (n == t || n == d);
            let same = loads && t == d;
            banned(t) || banned(d) || into_base || same || n == 15 && (!loads || writes_back)
        }
        (false, false, true) => banned(t) || n == 15,
        (false, false, false) => store_exclusive(n, t, d),
        (false, true, false) => store_exclusive(n, t, m),
        (false, true, true) if bits(o, 7, 5) == 0 => n == 13 || banned(m),
        (false, true, true) => banned(t) || n == 15,
    }
}

fn store_exclusive(n: u8, t: u8, status: u8) -> bool {
    banned(t) || banned(status) || n == 15 || status == n || status == t
}

fn single(o: u32) -> bool {
    let (n, t) = (reg(o, 16), reg(o, 12));
    let (loads, word) = (bit(o, 20), bits(o, 22, 21) == 2);
    let literal = loads && n == 15;
    // Bytes and halfwords do not go to SP. A load of one to the PC, if it has a meaning, is a hint.
    let operand = t == 13 && !word || t == 15 && !loads || n == 15 && !loads;
    operand
        || !literal && !bit(o, 23) && {
            let (long_form, m) = (bit(o, 11), reg(o, 0));
            if long_form {
                indexed(o, n, t, loads && !word)
            } else {
                banned(m)
            }
        }
}

/// The forms with an offset of eight bits. P, U and W select indexing and unprivileged access.
fn indexed(o: u32, n: u8, t: u8, may_be_hint: bool) -> bool {
    let unprivileged = bits(o, 10, 8) == 0b110;
    let hint = bits(o, 10, 8) == 0b100;
    bit(o, 8) && n == t || unprivileged && banned(t) || may_be_hint && t == 15 && !hint
}

/// There must be at least one register, and none beyond the last. D16 and above do not exist.
fn float_list(o: u32) -> bool {
    let (doubles, words) = (bit(o, 8), bits(o, 7, 0));
    let (first, count) = if doubles {
        (u32::from(reg(o, 12)) << 1, words & !1)
    } else {
        (u32::from(reg(o, 12)) << 1 | bits(o, 22, 22), words)
    };
    reg(o, 16) == 15 || count == 0 || words > 32 || first + count > 32 || doubles && bit(o, 22)
}
