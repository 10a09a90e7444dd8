//! MCU debug component (RM0368 §23.16): identity, DBG_SLEEP and freeze bits. The freeze bits are only
//! storage: while a debugger halts this core, time stands still, so everything is frozen anyway.

use super::registers::{Register, Registers, Unmodelled};
use super::Peripheral;
use crate::chip::{Chip, Line};
use serde::{Deserialize, Serialize};

const IDCODE: u32 = 0x00;
const CR: u32 = 0x04;
/// Without it the bus has no clock while the core sleeps, and a debugger reaches nothing (§23.16.1).
const DBG_SLEEP: u32 = 1 << 0;

static TABLE: &[Register] = &[
    Register::new(IDCODE, "IDCODE", 0, 0).inert(!0),
    // DBG_SLEEP, DBG_STOP, DBG_STANDBY; trace pins are not modelled.
    Register::new(CR, "CR", 0, 0b111).missing(0xE0),
    // Timers 2–5, RTC, WWDG, IWDG, I2C1–3. Debuggers also set bits that larger chips of the family
    // have. Here they are reserved and have no effect.
    Register::new(0x08, "APB1_FZ", 0, 0x00E0_1C0F).inert(!0x00E0_1C0F),
    // Timers 1, 9–11.
    Register::new(0x0C, "APB2_FZ", 0, 0x0007_0001).inert(!0x0007_0001),
];

/// RM0351 §46.
static TABLE_L4: [Register; 5] = [
    Register::new(IDCODE, "IDCODE", 0, 0).inert(!0),
    Register::new(CR, "CR", 0, 0b111).missing(0xE0),
    Register::new(0x08, "APB1_FZR1", 0, 0x82E0_1C3F).inert(!0x82E0_1C3F),
    Register::new(0x0C, "APB1_FZR2", 0, 0x20).inert(!0x20),
    Register::new(0x10, "APB2_FZR", 0, 0x0007_2800).inert(!0x0007_2800),
];
/// RM0008 §31.16.3: the freeze bits are in CR.
static TABLE_F1: [Register; 2] = [
    Register::new(IDCODE, "IDCODE", 0, 0).inert(!0),
    Register::new(CR, "CR", 0, 0x003F_FF07)
        .inert(!0x003F_FFE7)
        .missing(0xE0),
];
/// RM0091 §32.9: it is on the APB, with a clock.
static TABLE_F0: [Register; 4] = [
    Register::new(IDCODE, "IDCODE", 0, 0).inert(!0),
    Register::new(CR, "CR", 0, 0b110).inert(!0b110),
    Register::new(0x08, "APB1_FZ", 0, 0x0220_1D33).inert(!0x0220_1D33),
    Register::new(0x0C, "APB2_FZ", 0, 0x0007_0800).inert(!0x0007_0800),
];

#[derive(Clone, Serialize, Deserialize)]
pub struct Dbgmcu {
    line: Line,
    registers: Registers,
    /// The access under way is a debugger's.
    #[serde(skip)]
    pub by_debugger: bool,
}

impl Dbgmcu {
    pub fn of(chip: &Chip) -> Dbgmcu {
        let table: &'static [Register] = match chip.family.line() {
            Line::F4 => TABLE,
            Line::L4 => &TABLE_L4,
            Line::F1 => &TABLE_F1,
            Line::F0 => &TABLE_F0,
        };
        let mut registers = Registers::new("DBGMCU", table);
        registers.set(IDCODE, chip.idcode);
        Dbgmcu {
            line: chip.family.line(),
            registers,
            by_debugger: false,
        }
    }

    /// On the STM32F0 the clocks go on in any case (RM0091 §32.9.1).
    pub fn clocks_sleep(&self) -> bool {
        self.line == Line::F0 || self.registers.get(CR) & DBG_SLEEP != 0
    }

    /// On the STM32F1 a program reads 0, and writes nothing (ES0340, "Debug registers cannot be read
    /// by user software").
    fn is_closed(&self) -> bool {
        self.line == Line::F1 && !self.by_debugger
    }
}

impl Peripheral for Dbgmcu {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn read(&mut self, offset: u32, _now: u64) -> u32 {
        if self.is_closed() {
            return 0;
        }
        self.registers.get(offset)
    }

    fn write(&mut self, offset: u32, value: u32, _now: u64) -> Result<(), Unmodelled> {
        if !self.is_closed() {
            self.registers.set(offset, value);
        }
        Ok(())
    }

    fn reset(&mut self) {
        let identity = self.registers.get(IDCODE);
        self.registers.reset();
        self.registers.set(IDCODE, identity);
    }
}
