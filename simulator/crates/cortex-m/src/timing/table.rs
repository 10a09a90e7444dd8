//! The table of the Cortex-M4 Technical Reference Manual r0p1 (ARM DDI 0439, table 3-1, "TRM"
//! below).
//!
//! P is the pipeline refill. What depends on operands, as division and register counts do, is a
//! function here too.

use crate::decode::{Branch, Float, Kind, Memory, Multiply, Op, System};

/// Rows of the table: instructions that cost the same for the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    DataProcessing,
    Multiply,
    Divide,
    Branch,
    TableBranch,
    IfThen,
    Load,
    StoreImmediate,
    StoreRegister,
    Multiple,
    SpecialRegister,
    Barrier,
    System,
    FloatArithmetic,
    FloatMultiplyAccumulate,
    FloatDivideOrRoot,
    FloatPairMove,
    FloatLoad,
    FloatMultiple,
}

/// Class, cycles without the dynamic part, and the source of the number.
const TABLE: &[(Class, u8, &str)] = &[
    (
        Class::DataProcessing,
        1,
        "TRM table 3-1, Move to Saturate: 1; writing PC adds P",
    ),
    (
        Class::Multiply,
        1,
        "TRM r0p1 (ARM 100166), Multiply: 1, MLA and MLS too, which r0p0 gave 2; table 3-2: 1",
    ),
    (
        Class::Divide,
        2,
        "TRM table 3-1, SDIV and UDIV: 2 to 12, early termination by significant bits",
    ),
    (
        Class::Branch,
        1,
        "TRM table 3-1, Branch: 1 + P taken, 1 not taken",
    ),
    (
        Class::TableBranch,
        2,
        "TRM table 3-1, TBB and TBH: 2 + P; 3.3.3: two for the load, one for the addition, three for the refill",
    ),
    (
        Class::IfThen,
        1,
        "TRM table 3-1, IT: 1; 0 when folded onto a 16-bit instruction before it",
    ),
    (Class::Load, 2, "TRM table 3-1, Load: 2, to PC 2 + P"),
    (
        Class::StoreImmediate,
        1,
        "TRM 3.3.2: STR Rx,[Ry,#imm] is always one cycle",
    ),
    (Class::StoreRegister, 2, "TRM table 3-1, Store: 2"),
    (
        Class::Multiple,
        1,
        "TRM table 3-1, LDM, STM, PUSH, POP, LDRD, STRD: 1 + N, with PC + P",
    ),
    (
        Class::SpecialRegister,
        2,
        "TRM table 3-1, MRS and MSR: 1 or 2",
    ),
    (
        Class::Barrier,
        1,
        "TRM table 3-1, DSB, DMB, ISB: 1 + B, B taken as 0 with an idle write buffer",
    ),
    (
        Class::System,
        1,
        "TRM table 3-1, CPS 1 or 2, NOP, SEV, WFE, WFI: 1 + sleep",
    ),
    (
        Class::FloatArithmetic,
        1,
        "TRM table 7-1: VADD, VSUB, VMUL, VCVT, VCMP, VMOV: 1",
    ),
    (
        Class::FloatMultiplyAccumulate,
        3,
        "TRM table 7-1: VMLA, VFMA and their kin: 3",
    ),
    (
        Class::FloatDivideOrRoot,
        14,
        "TRM table 7-1: VDIV, VSQRT: 14",
    ),
    (
        Class::FloatPairMove,
        2,
        "TRM table 7-1: VMOV of two registers: 2",
    ),
    (
        Class::FloatLoad,
        2,
        "TRM table 7-1: VLDR, VSTR: 2 for a single, 3 for a double",
    ),
    (
        Class::FloatMultiple,
        1,
        "TRM table 7-1: VLDM, VSTM, VPUSH, VPOP: 1 + N",
    ),
];

/// P without a model of the prefetch unit.
pub const IDEAL_REFILL_CYCLES: u64 = 1;
/// The addition of TBB and TBH, before the refill (TRM 3.3.3).
pub const TABLE_BRANCH_ADDITION_CYCLES: u8 = 1;
/// From the start of a return to the fetch at the return address. Not documented. Chosen: the PC is
/// the first word popped. After its address and data phase, fetching goes on beside the rest of the
/// unstacking.
pub const RETURN_ADDRESS_CYCLES: u64 = 2;
/// Saving or restoring S0–S15 and FPSCR at once: one transfer for each (TRM 7.2.2 and B1.5.7).
pub const FLOAT_FRAME_CYCLES: u64 = 17;

fn class(kind: Kind) -> Class {
    match kind {
        Kind::Multiply(Multiply::Sdiv | Multiply::Udiv) => Class::Divide,
        Kind::Multiply(_) => Class::Multiply,
        Kind::Branch(Branch::TableByte | Branch::TableHalf) => Class::TableBranch,
        Kind::Branch(Branch::It) => Class::IfThen,
        Kind::Branch(_) => Class::Branch,
        Kind::Memory(Memory::Store(_) | Memory::StoreUnprivileged(_)) => Class::StoreImmediate,
        Kind::Memory(Memory::StoreRegister(_) | Memory::StoreExclusive(_)) => Class::StoreRegister,
        Kind::Memory(Memory::LoadDouble | Memory::StoreDouble) => Class::Multiple,
        Kind::Memory(_) => Class::Load,
        Kind::Multiple(_) => Class::Multiple,
        Kind::System(System::Mrs | System::Msr) => Class::SpecialRegister,
        Kind::System(System::Barrier) => Class::Barrier,
        Kind::System(_) => Class::System,
        Kind::Float(float) => float_class(float),
        _ => Class::DataProcessing,
    }
}

fn float_class(float: Float) -> Class {
    use Float::*;
    match float {
        Mla | Mls | Nmla | Nmls | Fma | Fms | Fnma | Fnms => Class::FloatMultiplyAccumulate,
        Div | Sqrt => Class::FloatDivideOrRoot,
        FromCorePair | ToCorePair => Class::FloatPairMove,
        Load | Store => Class::FloatLoad,
        LoadMultiple | StoreMultiple => Class::FloatMultiple,
        _ => Class::FloatArithmetic,
    }
}

/// The static cost of an instruction, with the number of registers transferred.
pub fn base_cycles(op: &Op) -> u8 {
    let class = class(op.kind);
    let row = TABLE
        .iter()
        .find(|row| row.0 == class)
        .expect("every class has a row");
    let transfers = match op.kind {
        Kind::Multiple(_) => op.imm.count_ones() as u8,
        Kind::Memory(Memory::LoadDouble | Memory::StoreDouble) => 2,
        Kind::Float(Float::Load | Float::Store) => op.amount - 1,
        Kind::Float(Float::LoadMultiple | Float::StoreMultiple) => op.amount,
        _ => 0,
    };
    row.1 + transfers
}

/// Cycles of a division beyond the table's 2. Measured (compendium.i-0.nl, "Division timing"): 2 in
/// all if an operand is zero, 3 if the dividend has fewer bits than the divisor, else by the
/// difference of their bits. The step is inferred from the range of 2–12: four bits a cycle.
pub fn divide_cycles(dividend_magnitude: u32, divisor_magnitude: u32) -> u64 {
    if dividend_magnitude == 0 || divisor_magnitude == 0 {
        return 0;
    }
    let zeros = [divisor_magnitude, dividend_magnitude].map(u32::leading_zeros);
    match zeros[0].checked_sub(zeros[1]) {
        None => 1,
        Some(difference) => (3 + difference / 4).into(),
    }
}

/// The penalty of an access across its natural boundary (TRM 3.3.2): one more transfer for any
/// halfword or a halfword-aligned word, two for a byte-aligned word.
pub fn unaligned_cycles(address: u32, bytes: u32) -> u64 {
    match (bytes, address & 3) {
        (4, 2) => 1,
        (4, 1 | 3) => 2,
        (2, 1 | 3) => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_stays_within_the_manual_s_range() {
        assert_eq!(2 + divide_cycles(u32::MAX, 1), 12);
        assert!(2 + divide_cycles(100, 7) < 12);
    }

    #[test]
    fn divisions_that_end_early_cost_what_was_measured() {
        // compendium.i-0.nl, "Division timing".
        assert_eq!(2 + divide_cycles(100, 0), 2);
        assert_eq!(2 + divide_cycles(0, 100), 2);
        assert_eq!(2 + divide_cycles(5, 8), 3, "fewer bits than the divisor");
        assert_eq!(2 + divide_cycles(1, u32::MAX), 3);
        assert_eq!(
            divide_cycles(5, 7),
            divide_cycles(7, 5),
            "as many bits: by their difference alone"
        );
        assert_eq!(divide_cycles(100, 7), divide_cycles(200, 15), "4 bits more");
    }

    #[test]
    fn each_class_has_exactly_one_row() {
        for row in TABLE {
            assert_eq!(
                TABLE.iter().filter(|other| other.0 == row.0).count(),
                1,
                "{:?}",
                row.0
            );
        }
    }
}
