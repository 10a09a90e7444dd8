//! System configuration controller (RM0368 §7.2, RM0351 §9.2, RM0091 §9.1): which port feeds which
//! external interrupt line. On the STM32F1 it is AFIO (RM0008 §9.4), which also says which pins the
//! peripherals have, and which the debug port.

use super::registers::{Register, Registers, Unmodelled};
use super::Peripheral;
use crate::chip::Line;
use serde::{Deserialize, Serialize};

const EXTICR1: u32 = 0x08;

/// AFIO_MAPR.
const MAPR: u32 = 0x04;
const SWJ_CFG: u32 = 0b111 << 24;
/// USART1–3, TIM1–4: the remaps that are modelled.
const REMAPS: u32 = 0x0000_1FFC;

const fn extis() -> [Register; 4] {
    [
        Register::new(0x08, "EXTICR1", 0, 0xFFFF),
        Register::new(0x0C, "EXTICR2", 0, 0xFFFF),
        Register::new(0x10, "EXTICR3", 0, 0xFFFF),
        Register::new(0x14, "EXTICR4", 0, 0xFFFF),
    ]
}

static TABLE_L4: [Register; 10] = {
    let [one, two, three, four] = extis();
    [
        Register::new(0x00, "MEMRMP", 0, 0).missing(0x107),
        // Drive of I2C pins, the analog switches' booster, interrupts of the FPU.
        Register::new(0x04, "CFGR1", 0x7C00_0001, 0).missing(0xFC7F_0101),
        one,
        two,
        three,
        four,
        Register::new(0x18, "SCSR", 0, 0).inert(0b10).missing(1),
        Register::new(0x1C, "CFGR2", 0, 0)
            .inert(1 << 8)
            .missing(0xF),
        Register::new(0x20, "SWPR", 0, 0).missing(!0),
        Register::new(0x24, "SKR", 0, 0).missing(0xFF),
    ]
};

static TABLE_F0: [Register; 6] = {
    let [one, two, three, four] = extis();
    [
        // Flash stays at address 0. DMA remaps, drive of I2C pins.
        Register::new(0x00, "CFGR1", 0, 0).missing(0x7FFF_FFFF),
        one,
        two,
        three,
        four,
        Register::new(0x18, "CFGR2", 0, 0)
            .inert(1 << 8)
            .missing(0b111),
    ]
};

static TABLE_AFIO: [Register; 7] = {
    let [one, two, three, four] = extis();
    [
        Register::new(0x00, "EVCR", 0, 0).missing(0xFF),
        Register::new(MAPR, "MAPR", 0, REMAPS | SWJ_CFG).missing(0x001F_E003),
        one,
        two,
        three,
        four,
        Register::new(0x1C, "MAPR2", 0, 0).missing(0x7E0),
    ]
};

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

/// The pins that the STM32F1's debug port holds, as SWJ_CFG says: of port A and of port B. Of them
/// PA13, PA15 and PB4 are pulled up (RM0008 §9.3.5, §31.4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimed {
    pub pins: [u32; 2],
    pub high: [u32; 2],
}

impl Syscfg {
    pub fn of(line: Line) -> Syscfg {
        let (name, table): (_, &'static [Register]) = match line {
            Line::F4 => ("SYSCFG", TABLE),
            Line::L4 => ("SYSCFG", &TABLE_L4),
            Line::F1 => ("AFIO", &TABLE_AFIO),
            Line::F0 => ("SYSCFG", &TABLE_F0),
        };
        Syscfg {
            registers: Registers::new(name, table),
        }
    }

    /// Whether a field of AFIO_MAPR has a value, as [`remap`] codes them. 0 asks for nothing.
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

    /// SWJ_CFG is write-only.
    fn read(&mut self, offset: u32, _now: u64) -> u32 {
        let hidden = match (offset, self.registers.peripheral()) {
            (MAPR, "AFIO") => SWJ_CFG,
            _ => 0,
        };
        self.registers.get(offset) & !hidden
    }

    fn reset(&mut self) {
        self.registers.reset();
    }
}

/// The code of a field of AFIO_MAPR that must have a value.
pub const fn remap(shift: u32, bits: u32, value: u32) -> u32 {
    shift | bits << 8 | value << 16
}
