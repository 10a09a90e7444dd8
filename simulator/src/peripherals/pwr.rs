//! Power controller (RM0368 §5.4): the voltage scale.

use super::registers::{Register, Registers, Unmodelled};
use super::Peripheral;
use serde::{Deserialize, Serialize};

const CR: u32 = 0x00;
const CSR: u32 = 0x04;
const VOS_SHIFT: u32 = 14;
const VOSRDY: u32 = 1 << 14;
const DBP: u32 = 1 << 8;

static TABLE: &[Register] = &[
    // Missing: Stop and Standby modes, the voltage detector, flash power-down. CWUF and CSBF clear
    // flags that are never set.
    Register::new(CR, "CR", 0x0000_8000, 0b11 << VOS_SHIFT | DBP)
        .inert(0b1100)
        .missing(0x3EF3),
    // Missing: the wake-up pin and the backup regulator.
    Register::new(CSR, "CSR", 0, 0)
        .inert(VOSRDY)
        .missing(0x0300),
];

#[derive(Clone, Serialize, Deserialize)]
pub struct Pwr {
    registers: Registers,
}

impl Default for Pwr {
    fn default() -> Self {
        Pwr {
            registers: Registers::new("PWR", TABLE),
        }
    }
}

impl Pwr {
    /// On the chip the selected scale becomes active when the PLL is turned on (§5.1.3). Here it
    /// does at once.
    pub fn set_pll_on(&mut self, on: bool) {
        self.registers.set_bits(CSR, VOSRDY, on);
    }

    /// The highest HCLK that the scale allows with the PLL on (§5.1.3): 84 MHz with scale 2, 60 MHz
    /// with scale 3.
    pub fn highest_core_hz(&self) -> u64 {
        match self.registers.get(CR) >> VOS_SHIFT & 0b11 {
            0b10 => 84_000_000,
            _ => 60_000_000,
        }
    }
}

impl Peripheral for Pwr {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn write(&mut self, offset: u32, value: u32, _now: u64) -> Result<(), Unmodelled> {
        if offset == CR && !matches!(value >> VOS_SHIFT & 0b11, 0b01 | 0b10) {
            return Err(self.registers.refuse(offset, "VOS is a reserved value"));
        }
        self.registers.set(offset, value);
        Ok(())
    }

    fn reset(&mut self) {
        let pll_on = self.registers.get(CSR) & VOSRDY != 0;
        self.registers.reset();
        self.set_pll_on(pll_on);
    }
}
