//! Which instructions a core has, by what it can, and what it does with the other opcodes.
//!
//! Without DSP extension and floating-point unit it is ARMv7-M (DDI 0403E, A1.3). A core that is not of the
//! main line has ARMv6-M: the 16-bit instructions without IT, CBZ and CBNZ, and six of 32 bits (DDI
//! 0419C, A4.1 and A5.3).

use super::op::{Branch, Kind, Media, Multiply, Op, System};
use super::row::bits;
use super::system::absent_coprocessor;
use super::tables::{decode, encodings, Encoding};
use super::unpredictable::unpredictable;
use crate::model::{CoreKind, Facts};

/// Decodes the `opcode` at `address` for a core of this kind. What the core lacks is undefined
/// there, or an instruction for a coprocessor that it does not have.
pub fn decode_for(kind: CoreKind, opcode: u32, wide: bool, address: u32) -> Option<Op> {
    let op = decode(opcode, wide, address);
    let facts = kind.facts();
    match op {
        op if facts.is_whole() => op,
        Some(op) if has(facts, &op, wide) => Some(op),
        _ if !facts.mainline => Some(undefined(wide)),
        Some(op) if on_dsp(&op) => Some(undefined(wide)),
        _ if wide => absent_coprocessor(opcode, false).map(|op| Op { size: 4, ..op }),
        _ => None,
    }
}

/// Whether a core has an instruction.
fn has(facts: &Facts, op: &Op, wide: bool) -> bool {
    (facts.mainline || in_baseline(op, wide))
        && (facts.dsp || !on_dsp(op))
        && (facts.float || !is_float(op))
}

/// As [`unpredictable`], for a core of this kind. What is undefined there has a result: a fault.
pub fn unpredictable_on(kind: CoreKind, opcode: u32, wide: bool) -> Option<&'static str> {
    let facts = kind.facts();
    if !facts.is_whole() && !decode(opcode, wide, 0).is_some_and(|op| has(facts, &op, wide)) {
        return None;
    }
    let baseline = |_| baseline_unpredictable(opcode, wide);
    unpredictable(opcode, wide).or_else(|| (!facts.mainline).then_some(()).and_then(baseline))
}

/// The encodings that this core has, in the order in which they are searched.
pub fn encodings_of(kind: CoreKind) -> impl Iterator<Item = Encoding> {
    let facts = kind.facts();
    encodings().filter_map(move |row| {
        if facts.is_whole() {
            return Some(row);
        }
        let plain = (facts.mainline && !facts.dsp).then(|| without_addend(row));
        std::iter::once(row).chain(plain).find(|row| {
            let op = decode(row.value, row.wide, 0);
            op.is_some_and(|op| has(facts, &op, row.wide))
        })
    })
}

/// The part of an encoding whose Rn is 15: an extension that adds nothing.
fn without_addend(row: Encoding) -> Encoding {
    const RN: u32 = 15 << 16;
    Encoding {
        mask: row.mask | RN,
        value: row.value | RN,
        ..row
    }
}

fn undefined(wide: bool) -> Op {
    Op {
        size: if wide { 4 } else { 2 },
        ..Op::new(Kind::System(System::PermanentlyUndefined))
    }
}

fn is_float(op: &Op) -> bool {
    matches!(op.kind, Kind::Float(_))
}

/// Whether it belongs to the DSP extension.
fn on_dsp(op: &Op) -> bool {
    match op.kind {
        Kind::Multiply(multiply) => !matches!(
            multiply,
            Multiply::Mul
                | Multiply::Mla
                | Multiply::Mls
                | Multiply::Smull
                | Multiply::Umull
                | Multiply::Smlal
                | Multiply::Umlal
                | Multiply::Sdiv
                | Multiply::Udiv
        ),
        Kind::Media(media) => match media {
            Media::Movt | Media::Sbfx | Media::Ubfx | Media::Bfi | Media::Ssat | Media::Usat => {
                false
            }
            Media::Rev | Media::Rev16 | Media::Revsh | Media::Rbit | Media::Clz => false,
            // Without an addend they are plain extensions.
            Media::Sxtab | Media::Uxtab | Media::Sxtah | Media::Uxtah => op.n != 15,
            _ => true,
        },
        _ => false,
    }
}

/// Whether ARMv6-M has it.
fn in_baseline(op: &Op, wide: bool) -> bool {
    let has_wide = matches!(
        op.kind,
        Kind::Branch(Branch::Link)
            | Kind::System(
                System::Msr | System::Mrs | System::Barrier | System::PermanentlyUndefined
            )
    );
    let lacks_narrow = matches!(
        op.kind,
        Kind::Branch(Branch::IfZero | Branch::IfNotZero | Branch::It)
    );
    if wide {
        has_wide
    } else {
        !lacks_narrow
    }
}

/// Special registers of ARMv6-M by SYSm (DDI 0419C, table B4-1): xPSR's, MSP, PSP, PRIMASK, CONTROL.
const SPECIAL_REGISTERS: u32 = 0b1_0001_0000_0011_1110_1111;

/// What ARMv7-M gives a result and ARMv6-M does not.
fn baseline_unpredictable(opcode: u32, wide: bool) -> Option<&'static str> {
    let special = |register: u32| register < 32 && SPECIAL_REGISTERS >> register & 1 != 0;
    match (wide, opcode) {
        // CPS sets PRIMASK alone.
        (false, o) if o & 0xFFEC == 0xB660 && bits(o, 1, 0) != 2 => Some("CPS, ARMv6-M"),
        (true, o) if o & 0xFFE0_D000 == 0xF380_8000 => {
            (!special(bits(o, 7, 0)) || bits(o, 11, 10) != 2).then_some("MSR, ARMv6-M")
        }
        (true, o) if o & 0xFFE0_D000 == 0xF3E0_8000 => {
            (!special(bits(o, 7, 0))).then_some("MRS, ARMv6-M")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::encodings;

    fn faults(kind: CoreKind, opcode: u32) -> bool {
        let wide = opcode > 0xFFFF;
        let op = decode_for(kind, opcode, wide, 0).unwrap();
        assert_eq!(op.size, if wide { 4 } else { 2 });
        matches!(
            op.kind,
            Kind::System(System::PermanentlyUndefined | System::AbsentCoprocessor)
        )
    }

    #[test]
    fn each_core_has_its_instructions() {
        // Opcode, and whether the M4, the M3 and the M0 have it: GNU as for each -mcpu.
        for (opcode, name, has) in [
            (0x4348, "muls r0, r1", [true, true, true]),
            (0xF000_F800, "bl", [true, true, true]),
            (0xF3EF_8010, "mrs r0, primask", [true, true, true]),
            (0xF3BF_8F4F, "dsb", [true, true, true]),
            (0xBF30, "wfi", [true, true, true]),
            (0xB108, "cbz r0", [true, true, false]),
            (0xBF08, "it eq", [true, true, false]),
            (0xF3BF_8F2F, "clrex", [true, true, false]),
            (0xF000_B800, "b.w", [true, true, false]),
            (0xFAB1_F081, "clz r0, r1", [true, true, false]),
            (0xFBB1_F0F2, "udiv r0, r1, r2", [true, true, false]),
            (0xFBA1_0102, "umull r0, r1, r1, r2", [true, true, false]),
            (0xFA1F_F081, "uxth.w r0, r1", [true, true, false]),
            (0xF380_0001, "usat r0, #1, r0", [true, true, false]),
            (0xFA12_F081, "uxtah r0, r2, r1", [true, false, false]),
            (0xFBE1_0162, "umaal r0, r1, r1, r2", [true, false, false]),
            (0xFB11_F002, "smulbb r0, r1, r2", [true, false, false]),
            (0xFA81_F042, "uadd8 r0, r1, r2", [true, false, false]),
            (0xFAA1_F082, "sel r0, r1, r2", [true, false, false]),
            (0xEE30_0A20, "vadd.f32 s0, s0, s1", [true, false, false]),
            (0xED90_0A00, "vldr s0, [r0]", [true, false, false]),
        ] {
            let found =
                [CoreKind::M4, CoreKind::M3, CoreKind::M0].map(|kind| !faults(kind, opcode));
            assert_eq!(found, has, "{name}");
        }
    }

    /// The encodings of ARMv6-M, counted in DDI 0419C, A6.7: SVC, UDF and the hints too.
    #[test]
    fn a_baseline_core_has_six_wide_instructions() {
        let wide: Vec<_> = encodings()
            .filter(|row| row.wide)
            .filter(|row| !faults(CoreKind::M0, row.value))
            .map(|row| row.name)
            .collect();
        assert_eq!(
            wide,
            ["BL T1", "MSR T1", "DSB T1", "DMB T1", "ISB T1", "MRS T1"]
        );
    }

    #[test]
    fn a_core_without_floats_says_that_it_has_no_coprocessor() {
        for opcode in [0xEE30_0A20, 0xEE30_0B00, 0xED90_0A00, 0xEE00_0110] {
            let op = decode_for(CoreKind::M3, opcode, true, 0).unwrap();
            assert_eq!(
                op.kind,
                Kind::System(System::AbsentCoprocessor),
                "{opcode:#x}"
            );
            assert_eq!(unpredictable_on(CoreKind::M3, opcode, true), None);
        }
    }

    #[test]
    fn a_baseline_core_masks_by_primask_alone() {
        let refused = |opcode, wide| unpredictable_on(CoreKind::M0, opcode, wide).is_some();
        assert!(!refused(0xB672, false)); // cpsid i
        assert!(refused(0xB671, false)); // cpsid f
        assert!(!refused(0xF380_8810, true)); // msr primask, r0
        assert!(refused(0xF380_8811, true)); // msr basepri, r0
        assert!(refused(0xF3EF_8013, true)); // mrs r0, faultmask
        assert!(!refused(0xF000_B800, true), "undefined, and so no question");
    }
}
