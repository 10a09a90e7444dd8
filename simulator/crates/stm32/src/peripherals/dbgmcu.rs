//! MCU debug component (RM0368 §23.16): identity and freeze bits. The bits are only storage: while
//! a debugger halts this core, time stands still, so everything is frozen anyway.

use super::registers::{Register, Registers, Unmodelled};
use super::Peripheral;
use crate::chip::Chip;
use serde::{Deserialize, Serialize};

const IDCODE: u32 = 0x00;

static TABLE: &[Register] = &[
    Register::new(IDCODE, "IDCODE", 0, 0).inert(!0),
    // DBG_SLEEP, DBG_STOP, DBG_STANDBY; trace pins are not modelled.
    Register::new(0x04, "CR", 0, 0b111).missing(0xE0),
    // Timers 2–5, RTC, WWDG, IWDG, I2C1–3. Debuggers also set bits that larger chips of the family
    // have. Here they are reserved and have no effect.
    Register::new(0x08, "APB1_FZ", 0, 0x00E0_1C0F).inert(!0x00E0_1C0F),
    // Timers 1, 9–11.
    Register::new(0x0C, "APB2_FZ", 0, 0x0007_0001).inert(!0x0007_0001),
];

#[derive(Clone, Serialize, Deserialize)]
pub struct Dbgmcu {
    registers: Registers,
}

impl Dbgmcu {
    pub fn of(chip: &Chip) -> Dbgmcu {
        let mut registers = Registers::new("DBGMCU", TABLE);
        registers.set(IDCODE, chip.idcode);
        Dbgmcu { registers }
    }
}

impl Peripheral for Dbgmcu {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn write(&mut self, offset: u32, value: u32, _now: u64) -> Result<(), Unmodelled> {
        self.registers.set(offset, value);
        Ok(())
    }

    fn reset(&mut self) {
        let identity = self.registers.get(IDCODE);
        self.registers.reset();
        self.registers.set(IDCODE, identity);
    }
}
