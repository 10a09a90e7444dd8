//! Hints, barriers, special registers, and instructions that raise exceptions (A5.2.5, A5.3.4).

use super::System::*;
use super::{bits, reg, row, Kind, Op, Row, System};

pub const NARROW: &[Row] = &[
    row(0xFFEC, 0xB660, "CPS T1", |o, _| Op {
        imm: bits(o, 4, 0),
        ..Op::new(Kind::System(Cps))
    }),
    row(0xFF00, 0xBE00, "BKPT T1", |o, _| Op {
        imm: bits(o, 7, 0),
        ..Op::new(Kind::System(Breakpoint))
    }),
    row(0xFFFF, 0xBF20, "WFE T1", |_, _| simple(Wfe)),
    row(0xFFFF, 0xBF30, "WFI T1", |_, _| simple(Wfi)),
    row(0xFFFF, 0xBF40, "SEV T1", |_, _| simple(Sev)),
    row(0xFF0F, 0xBF00, "NOP, YIELD T1", |_, _| simple(Hint)),
    row(0xFF00, 0xDE00, "UDF T1", |_, _| {
        simple(PermanentlyUndefined)
    }),
    row(0xFF00, 0xDF00, "SVC T1", |o, _| Op {
        imm: bits(o, 7, 0),
        ..Op::new(Kind::System(Svc))
    }),
];

pub const WIDE: &[Row] = &[
    row(0xFFE0D000, 0xF3808000, "MSR T1", |o, _| Op {
        n: reg(o, 16),
        imm: bits(o, 7, 0),
        amount: bits(o, 11, 10) as u8,
        ..Op::new(Kind::System(Msr))
    }),
    row(0xFFF0D7FF, 0xF3A08002, "WFE T2", |_, _| simple(Wfe)),
    row(0xFFF0D7FF, 0xF3A08003, "WFI T2", |_, _| simple(Wfi)),
    row(0xFFF0D7FF, 0xF3A08004, "SEV T2", |_, _| simple(Sev)),
    row(0xFFF0D700, 0xF3A08000, "NOP, YIELD, DBG T2", |_, _| {
        simple(Hint)
    }),
    row(0xFFF0D0F0, 0xF3B08020, "CLREX T1", |_, _| simple(Clrex)),
    row(0xFFF0D0F0, 0xF3B08040, "DSB T1", |o, _| barrier(o)),
    row(0xFFF0D0F0, 0xF3B08050, "DMB T1", |o, _| barrier(o)),
    row(0xFFF0D0F0, 0xF3B08060, "ISB T1", |o, _| barrier(o)),
    row(0xFFE0D000, 0xF3E08000, "MRS T1", |o, _| Op {
        d: reg(o, 8),
        imm: bits(o, 7, 0),
        ..Op::new(Kind::System(Mrs))
    }),
    row(0xFFF0F000, 0xF7F0A000, "UDF T2", |_, _| {
        simple(PermanentlyUndefined)
    }),
];

/// Instructions for coprocessors that the chip does not have (A5.3.18): all but 10 and 11, if it has
/// an FPU.
pub fn absent_coprocessor(opcode: u32, has_float: bool) -> Option<Op> {
    let in_space = opcode & 0xEC00_0000 == 0xEC00_0000;
    let undefined = bits(opcode, 25, 24) == 0b11 || bits(opcode, 25, 21) == 0;
    let float = has_float && bits(opcode, 11, 9) == 0b101;
    (in_space && !undefined && !float).then(|| simple(AbsentCoprocessor))
}

/// Which barrier: 4 = DSB, 5 = DMB, 6 = ISB.
fn barrier(o: u32) -> Op {
    Op {
        imm: bits(o, 7, 4),
        ..simple(Barrier)
    }
}

fn simple(kind: System) -> Op {
    Op::new(Kind::System(kind))
}
