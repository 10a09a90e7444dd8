//! Registers of the System Control Block that are plain storage (B3.2). `nvic` holds what pends
//! and masks.

use crate::model::{CoreKind, Facts};
use crate::nvic::{BUS_FAULT, MEM_MANAGE};
use crate::registers::FPSCR_MODES;
use crate::trap::{cfsr, Fault};
use serde::{Deserialize, Serialize};

pub const CCR_NONBASETHRDENA: u32 = 1 << 0;
pub const CCR_USERSETMPEND: u32 = 1 << 1;
pub const CCR_UNALIGN_TRP: u32 = 1 << 3;
pub const CCR_DIV_0_TRP: u32 = 1 << 4;
pub const CCR_STKALIGN: u32 = 1 << 9;
/// NONBASETHRDENA, USERSETMPEND, UNALIGN_TRP, DIV_0_TRP, BFHFNMIGN, STKALIGN.
const CCR_WRITABLE: u32 = 0x31B;

pub const HFSR_VECTTBL: u32 = 1 << 1;
pub const HFSR_FORCED: u32 = 1 << 30;
pub const HFSR_DEBUGEVT: u32 = 1 << 31;
const HFSR_WRITABLE: u32 = 0xC000_0002;

pub const SCR_SLEEPONEXIT: u32 = 1 << 1;
const SCR_SEVONPEND: u32 = 1 << 4;

/// LDM, STM and divisions are not interrupted (TRM 4.3.1, ACTLR).
pub const ACTLR_DISMCYCINT: u32 = 1 << 0;
/// The write buffer is off (TRM 4.1, ACTLR).
pub const ACTLR_DISDEFWBUF: u32 = 1 << 1;

pub const FPCCR_LSPACT: u32 = 1 << 0;
pub const FPCCR_USER: u32 = 1 << 1;
pub const FPCCR_LSPEN: u32 = 1 << 30;
pub const FPCCR_ASPEN: u32 = 1 << 31;

/// CP10 and CP11 in CPACR.
const FLOAT_FULL_ACCESS: u32 = 0b1111 << 20;
const FLOAT_PRIVILEGED_ACCESS: u32 = 0b0101 << 20;

#[derive(Clone, Serialize, Deserialize)]
pub struct Scb {
    pub vtor: u32,
    pub scr: u32,
    pub ccr: u32,
    pub cfsr: u32,
    pub hfsr: u32,
    pub dfsr: u32,
    pub mmfar: u32,
    pub bfar: u32,
    pub actlr: u32,
    pub cpacr: u32,
    pub fpccr: u32,
    pub fpcar: u32,
    pub fpdscr: u32,
    pub demcr: u32,
}

/// The fault registers (B3.2.15–B3.2.19).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultStatus {
    pub cfsr: u32,
    pub hfsr: u32,
    pub mmfar: u32,
    pub bfar: u32,
}

impl Scb {
    pub fn fault_status(&self) -> FaultStatus {
        FaultStatus {
            cfsr: self.cfsr,
            hfsr: self.hfsr,
            mmfar: self.mmfar,
            bfar: self.bfar,
        }
    }

    /// Reset values (table B3-4; TRM table 4-1).
    pub fn of(kind: CoreKind) -> Scb {
        Scb {
            vtor: 0,
            scr: 0,
            ccr: kind.facts().ccr,
            cfsr: 0,
            hfsr: 0,
            dfsr: 0,
            mmfar: 0,
            bfar: 0,
            actlr: 0,
            cpacr: 0,
            fpccr: FPCCR_ASPEN | FPCCR_LSPEN,
            fpcar: 0,
            fpdscr: 0,
            demcr: 0,
        }
    }

    /// A register by its address. `None` if it is none of these.
    pub fn read(&self, address: u32) -> Option<u32> {
        Some(match address {
            0xE000_E008 => self.actlr,
            0xE000_ED08 => self.vtor,
            0xE000_ED10 => self.scr,
            0xE000_ED14 => self.ccr,
            0xE000_ED28 => self.cfsr,
            0xE000_ED2C => self.hfsr,
            0xE000_ED30 => self.dfsr,
            0xE000_ED34 => self.mmfar,
            0xE000_ED38 => self.bfar,
            0xE000_ED88 => self.cpacr,
            0xE000_EF34 => self.fpccr,
            0xE000_EF38 => self.fpcar,
            0xE000_EF3C => self.fpdscr,
            _ => return None,
        })
    }

    pub fn write(&mut self, address: u32, value: u32, facts: &Facts) -> Option<()> {
        match address {
            0xE000_E008 => self.actlr = value & 0x307,
            // 96 lines and 16 exceptions need a table that is aligned to 512 bytes (B3.2.5).
            0xE000_ED08 => self.vtor = value & facts.vtor,
            0xE000_ED10 => self.scr = value & 0x16,
            // Constant in ARMv6-M (DDI 0419C, B3.2.8).
            0xE000_ED14 if !facts.mainline => {}
            0xE000_ED14 => self.ccr = value & CCR_WRITABLE,
            0xE000_ED28 => self.cfsr &= !value,
            0xE000_ED2C => self.hfsr &= !(value & HFSR_WRITABLE),
            0xE000_ED30 => self.dfsr &= !value,
            0xE000_ED34 => self.mmfar = value,
            0xE000_ED38 => self.bfar = value,
            0xE000_ED88 => self.cpacr = value & FLOAT_FULL_ACCESS,
            0xE000_EF34 => self.fpccr = value & 0xC000_017B,
            0xE000_EF38 => self.fpcar = value & !7,
            0xE000_EF3C => self.fpdscr = value & FPSCR_MODES,
            _ => return None,
        }
        Some(())
    }

    /// The address of the handler of `exception` is in the word at this address.
    pub fn vector_address(&self, exception: u8) -> u32 {
        self.vtor.wrapping_add(4 * u32::from(exception))
    }

    /// Whether a lazily reserved frame still waits for S0–S15.
    pub fn lazy_state_pending(&self) -> bool {
        self.fpccr & FPCCR_LSPACT != 0
    }

    pub fn traps_unaligned(&self) -> bool {
        self.ccr & CCR_UNALIGN_TRP != 0
    }

    pub fn traps_division_by_zero(&self) -> bool {
        self.ccr & CCR_DIV_0_TRP != 0
    }

    pub fn sev_on_pend(&self) -> bool {
        self.scr & SCR_SEVONPEND != 0
    }

    /// Whether CPACR lets code of this privilege use the FPU (B3.2.20).
    pub fn float_accessible(&self, privileged: bool) -> bool {
        let access = self.cpacr & FLOAT_FULL_ACCESS;
        access == FLOAT_FULL_ACCESS || privileged && access == FLOAT_PRIVILEGED_ACCESS
    }

    /// Records a fault's status and address.
    pub fn record(&mut self, fault: &Fault) {
        self.cfsr |= fault.cfsr;
        match (fault.exception, fault.address) {
            (MEM_MANAGE, Some(address)) => {
                self.mmfar = address;
                self.cfsr |= cfsr::MMARVALID;
            }
            (BUS_FAULT, Some(address)) => {
                self.bfar = address;
                self.cfsr |= cfsr::BFARVALID;
            }
            _ => {}
        }
    }
}
