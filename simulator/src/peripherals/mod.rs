//! The peripherals of the STM32F401RE that firmware for the bench uses, one file each.
//!
//! Section numbers are of ST's reference manual RM0368, revision 5. A peripheral is brought up to date when it is
//! accessed or when the event that it announced falls due; none of them ticks.

pub mod absent;
pub mod address_map;
pub mod alternate_functions;
pub mod crc;
pub mod dbgmcu;
pub mod dma;
pub mod exti;
pub mod flash;
pub mod gpio;
pub mod iwdg;
pub mod known_gaps;
pub mod pwr;
pub mod rcc;
pub mod registers;
pub mod syscfg;
pub mod timer;
pub mod usart;
pub mod wwdg;

use registers::{Registers, Unmodelled};

/// A block of registers on the bus. The SoC checks every access against [`Registers`] first and hands over merged
/// values, so an implementation sees only accesses that the table allows.
pub trait Peripheral {
    fn registers(&self) -> &Registers;

    /// The value at `offset` at cycle `now`, side effects of reading included.
    fn read(&mut self, offset: u32, now: u64) -> u32 {
        let _ = now;
        self.registers().get(offset)
    }

    fn write(&mut self, offset: u32, value: u32, now: u64) -> Result<(), Unmodelled>;

    /// As [`Peripheral::read`]; `None` where no modelled register is.
    fn read_modelled(&mut self, offset: u32, now: u64) -> Option<u32> {
        let modelled = self.registers().is_modelled(offset);
        modelled.then(|| self.read(offset, now))
    }

    /// Back to the state after reset (RCC_*RSTR).
    fn reset(&mut self);
}
