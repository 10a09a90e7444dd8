//! The peripherals of the STM32F401RE that firmware for the bench uses. One file or folder each.
//!
//! Section numbers are those of ST's reference manual RM0368, revision 5. No peripheral ticks: it
//! is brought up to date when it is accessed, and when an event is due that it announced.

pub mod absent;
pub mod adc;
pub mod address_map;
pub mod alternate_functions;
pub mod crc;
pub mod dac;
pub mod dbgmcu;
pub mod dma;
pub mod exti;
pub mod flash;
pub mod gpio;
pub mod i2c;
pub mod iwdg;
pub mod known_gaps;
pub mod pwr;
pub mod rcc;
pub mod registers;
pub mod rng;
pub mod spi;
pub mod syscfg;
pub mod timer;
pub mod usart;
pub mod wwdg;

use registers::{Registers, Unmodelled};

/// A peripheral's registers on the bus. The SoC first checks every access against [`Registers`] and
/// merges narrow writes, so an implementation sees only accesses that its table allows.
pub trait Peripheral {
    fn registers(&self) -> &Registers;

    /// The value at `offset` at cycle `now`. Reading may have side effects.
    fn read(&mut self, offset: u32, now: u64) -> u32 {
        let _ = now;
        self.registers().get(offset)
    }

    fn write(&mut self, offset: u32, value: u32, now: u64) -> Result<(), Unmodelled>;

    /// As [`Peripheral::read`]. `None` if there is no modelled register.
    fn read_modelled(&mut self, offset: u32, now: u64) -> Option<u32> {
        let modelled = self.registers().is_modelled(offset);
        modelled.then(|| self.read(offset, now))
    }

    /// Returns to the state after reset (RCC_*RSTR).
    fn reset(&mut self);
}
