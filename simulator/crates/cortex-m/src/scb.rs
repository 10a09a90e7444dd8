//! Registers of the System Control Block that are plain storage (B3.2). `exceptions` holds what
//! pends and masks.

use super::exceptions::{BUS_FAULT, MEM_MANAGE};
use super::model::CoreKind;
use super::trap::{cfsr, Fault};
use serde::{Deserialize, Serialize};

pub const CCR_NONBASETHRDENA: u32 = 1 << 0;
pub const CCR_USERSETMPEND: u32 = 1 << 1;
pub const CCR_UNALIGN_TRP: u32 = 1 << 3;
pub const CCR_DIV_0_TRP: u32 = 1 << 4;
pub const CCR_STKALIGN: u32 = 1 << 9;
/// NONBASETHRDENA, USERSETMPEND, UNALIGN_TRP, DIV_0_TRP, BFHFNMIGN, STKALIGN.
pub const CCR_WRITABLE: u32 = 0x31B;

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

impl Scb {
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
