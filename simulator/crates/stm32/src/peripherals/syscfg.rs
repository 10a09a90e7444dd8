//! System configuration controller (RM0368 §7.2): which port feeds which external interrupt line.

use super::registers::{Register, Registers, Unmodelled};
use super::Peripheral;
use serde::{Deserialize, Serialize};

const EXTICR1: u32 = 0x08;

static TABLE: &[Register] = &[
    // Flash stays at address 0.
    Register::new(0x00, "MEMRMP", 0, 0).missing(0b11),
    Register::new(0x04, "PMC", 0, 0).missing(1 << 16),
    Register::new(0x08, "EXTICR1", 0, 0xFFFF),
    Register::new(0x0C, "EXTICR2", 0, 0xFFFF),
    Register::new(0x10, "EXTICR3", 0, 0xFFFF),
    Register::new(0x14, "EXTICR4", 0, 0xFFFF),
    Register::new(0x20, "CMPCR", 0, 0).inert(1 << 8).missing(1),
];

#[derive(Clone, Serialize, Deserialize)]
pub struct Syscfg {
    registers: Registers,
}

impl Default for Syscfg {
    fn default() -> Self {
        Syscfg {
            registers: Registers::new("SYSCFG", TABLE),
        }
    }
}

impl Syscfg {
    /// Whether external interrupt `line` listens to pin number `line` of this port.
    pub fn selects(&self, port: usize, line: u32) -> bool {
        let code = self.registers.get(EXTICR1 + line / 4 * 4) >> (line % 4 * 4) & 0xF;
        // §7.2.3: EXTICR codes a port by its place in the alphabet, as `gpio::PORTS` does.
        code as usize == port
    }
}

impl Peripheral for Syscfg {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn write(&mut self, offset: u32, value: u32, _now: u64) -> Result<(), Unmodelled> {
        self.registers.set(offset, value);
        Ok(())
    }

    fn reset(&mut self) {
        self.registers.reset();
    }
}
