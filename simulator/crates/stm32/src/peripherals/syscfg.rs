//! System configuration controller (RM0368 §7.2, RM0351 §9.2, RM0091 §9.1): which port feeds which
//! external interrupt line. On the STM32F1 it is AFIO (RM0008 §9.4), which also says which pins the
//! peripherals have, and which the debug port.

use super::registers::{Register, Registers, Unmodelled};
use super::Peripheral;
use serde::{Deserialize, Serialize};

const EXTICR1: u32 = 0x08;

/// AFIO_MAPR.
pub const MAPR: u32 = 0x04;
pub const SWJ_CFG: u32 = 0b111 << 24;

/// What tells the controller of one line from that of another.
pub struct SyscfgFacts {
    pub name: &'static str,
    pub table: &'static [Register],
    /// Whether it also says which pins peripherals and the debug port have: AFIO.
    pub assigns_pins: bool,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Syscfg {
    registers: Registers,
    /// It is AFIO.
    assigns_pins: bool,
}

/// The pins that the STM32F1's debug port holds, as SWJ_CFG says: of port A and of port B. Of them
/// PA13, PA15 and PB4 are pulled up (RM0008 §9.3.5, §31.4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimed {
    pub pins: [u32; 2],
    pub high: [u32; 2],
}

impl Syscfg {
    pub fn of(facts: &SyscfgFacts) -> Syscfg {
        Syscfg {
            registers: Registers::new(facts.name, facts.table),
            assigns_pins: facts.assigns_pins,
        }
    }

    /// Whether a field of AFIO_MAPR has a value, as [`super::remap::code`] has it. 0 asks for nothing.
    pub fn maps(&self, code: u32) -> bool {
        let (shift, bits, value) = (code & 0xFF, code >> 8 & 0xFF, code >> 16);
        self.registers.get(MAPR) >> shift & bits == value
    }

    /// What the debug port holds. Only the STM32F1 has this.
    pub fn claimed(&self) -> Claimed {
        const SWD: u32 = 0b11 << 13;
        const JTDI: u32 = 1 << 15;
        const JTDO: u32 = 1 << 3;
        const NJTRST: u32 = 1 << 4;
        let pins = match (self.registers.get(MAPR) & SWJ_CFG) >> 24 {
            0 => [SWD | JTDI, JTDO | NJTRST],
            1 => [SWD | JTDI, JTDO],
            2 => [SWD, 0],
            _ => [0, 0],
        };
        let pulled_up = [1 << 13 | JTDI, NJTRST];
        Claimed {
            pins,
            high: [pins[0] & pulled_up[0], pins[1] & pulled_up[1]],
        }
    }

    /// Whether external interrupt `line` listens to pin number `line` of this port.
    pub fn selects(&self, port: usize, line: u32) -> bool {
        let code = self.registers.get(EXTICR1 + line / 4 * 4) >> (line % 4 * 4) & 0xF;
        // §7.2.3: EXTICR codes a port by its place in the alphabet, as `PORTS` does.
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

    /// SWJ_CFG is write-only.
    fn read(&mut self, offset: u32, _now: u64) -> u32 {
        match self.assigns_pins && offset == MAPR {
            true => self.registers.get(MAPR) & !SWJ_CFG,
            false => self.registers.get(offset),
        }
    }

    fn reset(&mut self) {
        self.registers.reset();
    }
}
