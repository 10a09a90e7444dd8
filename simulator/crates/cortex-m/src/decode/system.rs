//! Hints, barriers, special registers, and instructions that raise exceptions (A5.2.5, A5.3.4).

use super::op::Kind::System;
use super::op::Op;
use super::op::System::*;
use super::row::{bits, rows, Row};

pub const NARROW: &[Row] = rows! {
    "1011 0110 011- 00--" "CPS T1"                           System(Cps), masks;
    "1011 1110 iiii iiii" "BKPT T1"                          System(Breakpoint);
    "1011 1111 0010 0000" "WFE T1"                           System(Wfe);
    "1011 1111 0011 0000" "WFI T1"                           System(Wfi);
    "1011 1111 0100 0000" "SEV T1"                           System(Sev);
    "1011 1111 ---- 0000" "NOP, YIELD T1"                    System(Hint);
    "1101 1110 ---- ----" "UDF T1"                           System(PermanentlyUndefined);
    "1101 1111 iiii iiii" "SVC T1"                           System(Svc);
};

pub const WIDE: &[Row] = rows! {
    "1111 0011 100- nnnn 10-0 ss-- iiii iiii" "MSR T1"                           System(Msr);
    "1111 0011 1010 ---- 10-0 -000 0000 0010" "WFE T2"                           System(Wfe);
    "1111 0011 1010 ---- 10-0 -000 0000 0011" "WFI T2"                           System(Wfi);
    "1111 0011 1010 ---- 10-0 -000 0000 0100" "SEV T2"                           System(Sev);
    "1111 0011 1010 ---- 10-0 -000 ---- ----" "NOP, YIELD, DBG T2"               System(Hint);
    "1111 0011 1011 ---- 10-0 ---- 0010 ----" "CLREX T1"                         System(Clrex);
    "1111 0011 1011 ---- 10-0 ---- 0100 ----" "DSB T1"                           System(Barrier), barrier;
    "1111 0011 1011 ---- 10-0 ---- 0101 ----" "DMB T1"                           System(Barrier), barrier;
    "1111 0011 1011 ---- 10-0 ---- 0110 ----" "ISB T1"                           System(Barrier), barrier;
    "1111 0011 111- ---- 10-0 dddd iiii iiii" "MRS T1"                           System(Mrs);
    "1111 0111 1111 ---- 1010 ---- ---- ----" "UDF T2"                           System(PermanentlyUndefined);
};

fn masks(op: &mut Op, o: u32, _: u32) {
    op.imm = bits(o, 4, 0);
}

/// Which barrier: 4 = DSB, 5 = DMB, 6 = ISB.
fn barrier(op: &mut Op, o: u32, _: u32) {
    op.imm = bits(o, 7, 4);
}

/// Instructions for coprocessors that the chip does not have (A5.3.18): all but 10 and 11, if it has
/// an FPU.
pub fn absent_coprocessor(opcode: u32, has_float: bool) -> Option<Op> {
    let in_space = opcode & 0xEC00_0000 == 0xEC00_0000;
    let undefined = bits(opcode, 25, 24) == 0b11 || bits(opcode, 25, 21) == 0;
    let float = has_float && bits(opcode, 11, 9) == 0b101;
    (in_space && !undefined && !float).then(|| Op::new(System(AbsentCoprocessor)))
}
