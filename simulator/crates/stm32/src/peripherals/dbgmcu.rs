//! MCU debug component (RM0368 §23.16): identity, DBG_SLEEP and freeze bits. The freeze bits are only
//! storage: while a debugger halts this core, time stands still, so everything is frozen anyway.

use super::registers::{Register, Registers, Unmodelled};
use super::Peripheral;
use serde::{Deserialize, Serialize};

pub const IDCODE: u32 = 0x00;
pub const CR: u32 = 0x04;
/// Without it the bus has no clock while the core sleeps, and a debugger reaches nothing (§23.16.1).
const DBG_SLEEP: u32 = 1 << 0;

/// What tells the component of one line from that of another.
pub struct DbgmcuFacts {
    pub table: &'static [Register],
    /// Whether its bus has a clock while the core sleeps, whatever DBG_SLEEP says.
    pub always_clocked: bool,
    /// Whether a program reads 0 there, and writes nothing.
    pub debugger_alone: bool,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Dbgmcu {
    always_clocked: bool,
    debugger_alone: bool,
    registers: Registers,
    /// The access under way is a debugger's.
    #[serde(skip)]
    pub by_debugger: bool,
}

impl Dbgmcu {
    pub fn of(facts: &DbgmcuFacts, idcode: u32) -> Dbgmcu {
        let mut registers = Registers::new("DBGMCU", facts.table);
        registers.set(IDCODE, idcode);
        Dbgmcu {
            always_clocked: facts.always_clocked,
            debugger_alone: facts.debugger_alone,
            registers,
            by_debugger: false,
        }
    }

    pub fn clocks_sleep(&self) -> bool {
        self.always_clocked || self.registers.has(CR, DBG_SLEEP)
    }

    fn is_closed(&self) -> bool {
        self.debugger_alone && !self.by_debugger
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
