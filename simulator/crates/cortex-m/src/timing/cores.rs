//! What instructions cost on the cores other than the Cortex-M4, where they differ from its table.
//!
//! - Cortex-M3: TRM r1p1 (ARM DDI 0337G, 18.2, "Processor instruction timings").
//! - Cortex-M0: TRM r0p0 (ARM DDI 0432C, table 3-1), with the fast multiplier. That the STM32F0 has
//!   it: ST's PM0215, "single-cycle 32-bit hardware multiplier".
//! - Cortex-M0+: TRM r0p1 (ARM DDI 0484C, table 3-1), with the fast multiplier, as ST's PM0223 says of the
//!   STM32G0.

use super::{register_hazards, table};
use crate::decode::{Branch, Kind, Multiply, Op, System};
use crate::model::{CoreKind, LongMultiply, Supply};

/// The static cost of an instruction, without the refill of a branch.
pub fn base_cycles(kind: CoreKind, op: &Op) -> u8 {
    let facts = kind.facts();
    match facts.supply {
        Supply::OneBus { special, .. } => one_bus_cycles(op, special),
        Supply::Buffered if facts.multiplies_long == LongMultiply::EarlyEnding => {
            early_ending_cycles(op).unwrap_or_else(|| table::base_cycles(op))
        }
        Supply::Buffered => table::base_cycles(op),
    }
}

/// The refill of a branch in a pipeline without waiting: from a branch's last cycle to its target. One
/// stage is the branch's own (DDI 0432C, table 3-1: B 3, BL 4, BX 3, POP with PC 4 + N, all with their
/// own 1, 2, 1, 2 + N; DDI 0484C: one less).
pub fn refill_cycles(kind: CoreKind) -> u64 {
    match kind.facts().supply {
        Supply::OneBus { decode, .. } => decode,
        Supply::Buffered => table::IDEAL_REFILL_CYCLES,
    }
}

/// DDI 0337G: "MUL is one cycle and MLA and MLS are two cycles", "MLAL versions take four to seven
/// cycles and MULL versions take three to five cycles", "For MLAL, the signed version is one cycle
/// longer than the unsigned". What depends on operands is [`long_operand_cycles`].
fn early_ending_cycles(op: &Op) -> Option<u8> {
    let Kind::Multiply(multiply) = op.kind else {
        return None;
    };
    match multiply {
        Multiply::Mla | Multiply::Mls => Some(2),
        Multiply::Umull | Multiply::Smull => Some(3),
        Multiply::Umlal => Some(4),
        Multiply::Smlal => Some(5),
        _ => None,
    }
}

/// What the Cortex-M3's long multiplication takes beyond its least: it ends early for inputs whose
/// magnitude is below 64 K (DDI 0337G, 18.2). That it is a cycle for each one that is not, is
/// chosen: the ranges are 3 to 5, 4 to 6 and 5 to 7.
pub fn long_operand_cycles(n: u32, m: u32, signed: bool) -> u64 {
    let magnitude = |value: u32| {
        if signed {
            (value as i32).unsigned_abs()
        } else {
            value
        }
    };
    [n, m]
        .into_iter()
        .map(|value| u64::from(magnitude(value) >= 1 << 16))
        .sum()
}

fn one_bus_cycles(op: &Op, special: u8) -> u8 {
    match op.kind {
        Kind::Memory(_) => 2,
        Kind::Multiple(_) => {
            let pops_pc = op.imm >> 15 & 1 != 0;
            1 + op.imm.count_ones() as u8 + u8::from(pops_pc)
        }
        Kind::Branch(Branch::Link) => 2,
        Kind::System(System::Mrs | System::Msr | System::Barrier) => special,
        Kind::System(System::Wfi | System::Wfe) => 2,
        _ => 1,
    }
}

/// [`register_hazards::address_registers`] for a core. With one bus nothing overlaps with a load, as
/// if each address needed what was loaded; and no result is late.
pub fn address_registers(kind: CoreKind, op: &Op) -> u16 {
    match kind.facts().supply {
        Supply::OneBus { .. } => u16::MAX,
        Supply::Buffered => register_hazards::address_registers(op),
    }
}

/// Whether a pre- or post-indexed access overlaps with a load before it. Measured on an STM32F103 and
/// an STM32F407 (jnk0le, "random", `cortex_m3m4.md`).
pub fn overlaps_indexed(kind: CoreKind) -> bool {
    kind != CoreKind::M3
}

pub fn late_registers(kind: CoreKind, op: &Op) -> u16 {
    match kind.facts().supply {
        Supply::OneBus { .. } => 0,
        Supply::Buffered => register_hazards::late_registers(op),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::decode_for;

    fn cycles(kind: CoreKind, opcode: u32) -> u64 {
        let op = decode_for(kind, opcode, opcode > 0xFFFF, 0).unwrap();
        let branches = matches!(op.kind, Kind::Branch(_))
            || matches!(op.kind, Kind::Multiple(_)) && op.imm >> 15 != 0;
        let refill = if branches { refill_cycles(kind) } else { 0 };
        u64::from(base_cycles(kind, &op)) + refill
    }

    /// DDI 0432C and DDI 0484C, tables 3-1, row by row.
    #[test]
    fn cores_with_one_bus_have_their_manuals_tables() {
        for (opcode, name, of_m0, of_m0_plus) in [
            (0x2001, "movs r0, #1", 1, 1),
            (0x4687, "mov pc, r0", 3, 2),
            (0x1840, "adds r0, r0, r1", 1, 1),
            (0x4348, "muls r0, r1", 1, 1),
            (0x4288, "cmp r0, r1", 1, 1),
            (0x4088, "lsls r0, r1", 1, 1),
            (0x6808, "ldr r0, [r1]", 2, 2),
            (0x5C08, "ldrb r0, [r1, r0]", 2, 2),
            (0x4800, "ldr r0, [pc]", 2, 2),
            (0xC90F, "ldm r1!, {r0-r3}", 5, 5),
            (0x6008, "str r0, [r1]", 2, 2),
            (0xC10D, "stm r1!, {r0, r2, r3}", 4, 4),
            (0xB50F, "push {r0-r3, lr}", 6, 6),
            (0xBC0F, "pop {r0-r3}", 5, 5),
            (0xBD0F, "pop {r0-r3, pc}", 9, 8),
            (0xD0FE, "beq", 3, 2),
            (0xE7FE, "b", 3, 2),
            (0xF000_F800, "bl", 4, 3),
            (0x4770, "bx lr", 3, 2),
            (0x4780, "blx r0", 3, 2),
            (0xB2C8, "uxtb r0, r1", 1, 1),
            (0xBA08, "rev r0, r1", 1, 1),
            (0xB672, "cpsid i", 1, 1),
            (0xF3EF_8010, "mrs r0, primask", 4, 3),
            (0xF380_8810, "msr primask, r0", 4, 3),
            (0xBF40, "sev", 1, 1),
            (0xBF30, "wfi", 2, 2),
            (0xBF00, "nop", 1, 1),
            (0xF3BF_8F6F, "isb", 4, 3),
            (0xF3BF_8F5F, "dmb", 4, 3),
        ] {
            assert_eq!(cycles(CoreKind::M0, opcode), of_m0, "{name}");
            assert_eq!(cycles(CoreKind::M0Plus, opcode), of_m0_plus, "{name}");
        }
    }

    #[test]
    fn a_cortex_m3_multiplies_as_its_manual_says() {
        let least = [
            (0xFB01_F002, "mul r0, r1, r2", 1),
            (0xFB01_3002, "mla r0, r1, r2, r3", 2),
            (0xFB01_3012, "mls r0, r1, r2, r3", 2),
            (0xFBA3_0102, "umull r0, r1, r3, r2", 3),
            (0xFB83_0102, "smull r0, r1, r3, r2", 3),
            (0xFBE3_0102, "umlal r0, r1, r3, r2", 4),
            (0xFBC3_0102, "smlal r0, r1, r3, r2", 5),
        ];
        for (opcode, name, expected) in least {
            assert_eq!(cycles(CoreKind::M3, opcode), expected, "{name}");
        }
        for (n, m, signed, more) in [
            (3, 0xFFFF, false, 0),
            (0x1_0000, 3, false, 1),
            (u32::MAX, u32::MAX, false, 2),
            (u32::MAX, u32::MAX, true, 0),
            (0x7FFF_FFFF, 0x8000_0000, true, 2),
        ] {
            assert_eq!(long_operand_cycles(n, m, signed), more, "{n:#x} {m:#x}");
        }
    }
}
