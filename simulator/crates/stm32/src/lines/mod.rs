//! What tells one line of chips from another: a record each, with its registers' tables. Peripherals ask
//! it for facts, or for the kind that they are of, and know no line by name.

pub mod f0;
pub mod f1;
pub mod f4;
pub mod g0;
pub mod g4;
pub mod l4;

use crate::chip::{Bus, Family};
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

/// What tells a family from others.
pub fn facts(family: Family) -> &'static FamilyFacts {
    match family {
        Family::F401 => &f4::F401,
        Family::F411 => &f4::F411,
        Family::F407 => &f4::F407,
        Family::F446 => &f4::F446,
        Family::L476 => &l4::L476,
        Family::F103 => &f1::F103,
        Family::F072 => &f0::F072,
        Family::G071 => &g0::G071,
        Family::G474 => &g4::G474,
    }
}

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
