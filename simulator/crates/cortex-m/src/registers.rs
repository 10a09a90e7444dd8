//! The register file and the program status registers (B1.4).

use crate::model::Facts;
use serde::{Deserialize, Serialize};

/// APSR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flags {
    pub n: bool,
    pub z: bool,
    pub c: bool,
    pub v: bool,
    pub q: bool,
    pub ge: u8,
}

impl Flags {
    pub fn bits(self) -> u32 {
        (self.n as u32) << 31
            | (self.z as u32) << 30
            | (self.c as u32) << 29
            | (self.v as u32) << 28
            | (self.q as u32) << 27
            | u32::from(self.ge) << 16
    }

    pub fn set_nzcvq(&mut self, bits: u32) {
        self.n = bits >> 31 & 1 != 0;
        self.z = bits >> 30 & 1 != 0;
        self.c = bits >> 29 & 1 != 0;
        self.v = bits >> 28 & 1 != 0;
        self.q = bits >> 27 & 1 != 0;
    }

    pub fn set_ge(&mut self, bits: u32) {
        self.ge = (bits >> 16 & 15) as u8;
    }

    #[inline(always)]
    pub fn set_nz(&mut self, result: u32) {
        self.n = (result as i32) < 0;
        self.z = result == 0;
    }

    /// Adds and sets N, Z, C and V.
    #[inline(always)]
    pub fn add(&mut self, a: u32, b: u32) -> u32 {
        let (sum, carry) = a.overflowing_add(b);
        self.set_nz(sum);
        self.c = carry;
        self.v = (a as i32).overflowing_add(b as i32).1;
        sum
    }

    /// Subtracts and sets N, Z, C (no borrow) and V.
    #[inline(always)]
    pub fn subtract(&mut self, a: u32, b: u32) -> u32 {
        let (difference, borrow) = a.overflowing_sub(b);
        self.set_nz(difference);
        self.c = !borrow;
        self.v = (a as i32).overflowing_sub(b as i32).1;
        difference
    }

    /// `ConditionPassed` (A7.3.1).
    #[inline(always)]
    pub fn satisfy(self, condition: u8) -> bool {
        // One multiplication puts the four bits next to each other.
        let apart = u32::from_le_bytes([self.n, self.z, self.c, self.v].map(u8::from));
        let nzcv = apart.wrapping_mul(1 << 27 | 1 << 18 | 1 << 9 | 1) >> 24;
        PASSED[usize::from(condition & 15)] >> nzcv & 1 != 0
    }
}

/// For each condition: bit N:Z:C:V is set if the condition holds with these flags.
const PASSED: [u16; 16] = {
    let mut table = [0; 16];
    let mut case = 0;
    while case < 256 {
        let (condition, nzcv) = (case >> 4, case & 15);
        if holds(
            condition,
            nzcv & 8 != 0,
            nzcv & 4 != 0,
            nzcv & 2 != 0,
            nzcv & 1 != 0,
        ) {
            table[condition] |= 1 << nzcv;
        }
        case += 1;
    }
    table
};

const fn holds(condition: usize, n: bool, z: bool, c: bool, v: bool) -> bool {
    let base = match condition >> 1 {
        0 => z,
        1 => c,
        2 => n,
        3 => v,
        4 => c && !z,
        5 => n == v,
        6 => n == v && !z,
        _ => return true,
    };
    base != (condition & 1 != 0)
}

/// The bits that FPSCR has.
pub const FPSCR_WRITABLE: u32 = 0xF7C0_009F;
/// Of these, the modes AHP, DN, FZ and RMode. FPDSCR sets them in a new context.
pub const FPSCR_MODES: u32 = 0x07C0_0000;

/// S0–S31 and FPSCR.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct FloatRegisters {
    pub s: [u32; 32],
    pub fpscr: u32,
}

impl FloatRegisters {
    pub fn set_fpscr(&mut self, value: u32) {
        self.fpscr = value & FPSCR_WRITABLE;
    }
}

/// CONTROL (B1.4.4).
pub const CONTROL_NPRIV: u8 = 1 << 0;
pub const CONTROL_SPSEL: u8 = 1 << 1;
pub const CONTROL_FPCA: u8 = 1 << 2;

/// What instructions read and write (B1.4).
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Registers {
    /// R0–R12, the current SP, LR, and the PC as general instructions read it.
    pub general: [u32; 16],
    /// The SP that is not in use: PSP while MSP is, and the other way round.
    pub other_sp: u32,
    pub pc: u32,
    pub next_pc: u32,
    pub flags: Flags,
    /// ITSTATE. If its low half is 0, EPSR.ICI: the register from which a multiple continues.
    pub itstate: u8,
    pub thumb: bool,
    pub ipsr: u8,
    pub control: u8,
    pub float: FloatRegisters,
    /// The local monitor of LDREX and STREX.
    pub exclusive: bool,
}

impl Registers {
    pub fn new() -> Registers {
        Registers {
            thumb: true,
            ..Registers::default()
        }
    }

    /// APSR, IPSR and EPSR in one.
    pub fn xpsr(&self) -> u32 {
        self.flags.bits()
            | u32::from(self.itstate >> 2) << 10
            | u32::from(self.itstate & 3) << 25
            | (self.thumb as u32) << 24
            | u32::from(self.ipsr)
    }

    /// What the core does not have of it stays clear.
    pub fn set_xpsr(&mut self, value: u32, facts: &Facts) {
        self.itstate = ((value >> 10 & 0x3F) << 2 | value >> 25 & 3) as u8;
        self.thumb = value >> 24 & 1 != 0;
        self.ipsr = (value & 0x7F) as u8;
        self.flags.set_nzcvq(value);
        self.flags.set_ge(value);
        self.drop_absent_flags(facts);
    }

    /// Writes APSR's flags, its GE bits, or both.
    pub fn set_apsr(&mut self, value: u32, (flags, ge): (bool, bool), facts: &Facts) {
        if flags {
            self.flags.set_nzcvq(value);
        }
        if ge {
            self.flags.set_ge(value);
        }
        self.drop_absent_flags(facts);
    }

    /// Clears the flags and bits of EPSR that the core does not have.
    fn drop_absent_flags(&mut self, facts: &Facts) {
        if !facts.dsp {
            self.flags.ge = 0;
        }
        if !facts.mainline {
            self.flags.q = false;
            self.itstate = 0;
        }
    }

    pub fn msp(&self) -> u32 {
        if self.uses_psp() {
            self.other_sp
        } else {
            self.general[13]
        }
    }

    pub fn psp(&self) -> u32 {
        if self.uses_psp() {
            self.general[13]
        } else {
            self.other_sp
        }
    }

    /// Sets PSP, or MSP.
    pub fn set_stack(&mut self, process: bool, value: u32) {
        let place = if self.uses_psp() == process {
            &mut self.general[13]
        } else {
            &mut self.other_sp
        };
        *place = value & !3;
    }

    /// Writes the bits of CONTROL that `plain` names, and in Thread mode SPSEL, which is writable
    /// there only.
    pub fn set_control(&mut self, value: u8, plain: u8) {
        self.control = self.control & !plain | value & plain;
        if self.ipsr == 0 {
            self.set_mode(0, value & CONTROL_SPSEL != 0);
        }
    }

    /// Thread mode with SPSEL uses the process stack.
    fn uses_psp(&self) -> bool {
        self.control & CONTROL_SPSEL != 0 && self.ipsr == 0
    }

    pub fn privileged(&self) -> bool {
        self.ipsr != 0 || self.control & CONTROL_NPRIV == 0
    }

    /// Changes mode and SPSEL, and selects the SP that belongs to them.
    pub fn set_mode(&mut self, ipsr: u8, process_stack: bool) {
        let before = self.uses_psp();
        self.ipsr = ipsr;
        self.control =
            self.control & !CONTROL_SPSEL | if process_stack { CONTROL_SPSEL } else { 0 };
        if self.uses_psp() != before {
            std::mem::swap(&mut self.general[13], &mut self.other_sp);
        }
    }

    /// As [`Registers::set`], or the PC.
    pub fn set_general(&mut self, n: usize, value: u32) {
        match n {
            15 => self.pc = value & !1,
            _ => self.set(n as u8, value),
        }
    }

    #[inline(always)]
    pub fn get(&self, n: u8) -> u32 {
        self.general[n as usize & 15]
    }

    /// Writes a result to any register but the PC. The two low bits of SP stay clear.
    #[inline(always)]
    pub fn set(&mut self, n: u8, value: u32) {
        let value = if n == 13 { value & !3 } else { value };
        self.general[n as usize & 15] = value;
    }

    /// Whether the condition of an instruction in an IT block holds.
    pub fn condition_passed(&self) -> bool {
        self.itstate & 0xF == 0 || self.flags.satisfy(self.itstate >> 4)
    }

    /// Ends a multiple load or store before `register`, numbered as in EPSR.ICI: R0–R15, or a D
    /// register. False inside an IT block: its state uses the same bits, so the whole instruction
    /// is restarted (B1.4.2, TRM 3.9.1). So it is on a core without EPSR.ICI (DDI 0419C, B1.5.10).
    pub fn save_continuation(&mut self, register: u8, facts: &Facts) -> bool {
        let continued = self.itstate == 0 && facts.mainline;
        if continued {
            self.itstate = register << 4;
        }
        continued
    }

    /// Whether EPSR.ICI says that the instruction at the PC goes on from where it was cut off.
    pub fn will_continue(&self) -> bool {
        self.itstate != 0 && self.itstate & 0xF == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_hold_as_the_manual_s_table_says() {
        for nzcv in 0..16u32 {
            let [n, z, c, v] = [8, 4, 2, 1].map(|bit| nzcv & bit != 0);
            let mut flags = Flags::default();
            flags.set_nzcvq(nzcv << 28);
            // Table A7-1, from EQ to AL; 1111 is unconditional.
            let table = [
                z,
                !z,
                c,
                !c,
                n,
                !n,
                v,
                !v,
                c && !z,
                !c || z,
                n == v,
                n != v,
                !z && n == v,
                z || n != v,
                true,
                true,
            ];
            for (condition, holds) in table.into_iter().enumerate() {
                let found = flags.satisfy(condition as u8);
                assert_eq!(found, holds, "condition {condition}, NZCV {nzcv:04b}");
            }
        }
    }
}
