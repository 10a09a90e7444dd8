//! The records of a line and of a family.

use crate::chip::Bus;
use crate::peripherals::alternate_functions::Routes;
use crate::peripherals::dbgmcu::DbgmcuFacts;
use crate::peripherals::exti::ExtiFacts;
use crate::peripherals::flash::FlashFacts;
use crate::peripherals::gpio::GpioFacts;
use crate::peripherals::pwr::PwrFacts;
use crate::peripherals::rcc::Layout;
use crate::peripherals::syscfg::SyscfgFacts;
use crate::peripherals::timer::{Model, TIMERS};
use crate::peripherals::usart::UsartFacts;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// Families whose peripherals have the same registers, but for those of clocks and power.
pub struct LineFacts {
    pub name: &'static str,
    pub gpio: GpioFacts,
    pub exti: ExtiFacts,
    pub flash: FlashFacts,
    pub syscfg: SyscfgFacts,
    pub dbgmcu: DbgmcuFacts,
    pub system_memory: SystemMemory,
    /// The registers of RCC that turn on and reset what is on a bus.
    pub gates: &'static [(Bus, Gates)],
    /// The timers that a chip may have, in the order of [`crate::peripherals::timer::MODELS`].
    pub timers: &'static [Model; TIMERS],
    pub usart: UsartFacts,
    /// Whether the independent watchdog has WINR.
    pub watchdog_has_window: bool,
}

impl LineFacts {
    /// The registers that turn on and reset what is on a bus. `None`: no clock of this bus is modelled.
    pub fn gates(&self, bus: Bus) -> Option<Gates> {
        let row = self.gates.iter().find(|row| row.0 == bus);
        row.map(|row| row.1)
    }
}

/// Offsets of two registers with a bit for each peripheral of a bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gates {
    pub enable: u32,
    pub reset: Option<u32>,
}

impl Gates {
    pub const fn new(enable: u32, reset: u32) -> Gates {
        Gates {
            enable,
            reset: Some(reset),
        }
    }
}

/// What tells families of a line from each other: those with a reference manual of their own.
pub struct FamilyFacts {
    pub line: &'static LineFacts,
    pub rcc: &'static Layout,
    pub pwr: PwrFacts,
    pub routes: LazyLock<Routes>,
}

/// Where a line has what beside the flash.
pub struct SystemMemory {
    pub otp: Option<RangeInclusive<u32>>,
    pub unique_id: u32,
    /// The word with the size of the flash, and how far up it stands there.
    pub flash_kib: (u32, u32),
    pub options: RangeInclusive<u32>,
}
