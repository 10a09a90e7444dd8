//! The peripherals of the STM32F401RE that firmware for the bench uses. One file or folder each.
//!
//! Section numbers are those of ST's reference manual RM0368, revision 5. No peripheral ticks: it
//! is brought up to date when it is accessed, and when an event is due that it announced.

pub mod absent;
pub mod adc;
pub mod alternate_functions;
pub mod crc;
pub mod dac;
pub mod dbgmcu;
pub mod dma;
pub mod exti;
pub mod flash;
pub mod gpio;
pub mod gpio_f1;
pub mod i2c;
pub mod iwdg;
pub mod known_gaps;
pub mod pwr;
pub mod rcc;
pub mod registers;
pub mod remap;
pub mod rng;
pub mod rtc;
pub mod spi;
pub mod syscfg;
pub mod timer;
pub mod usart;
pub mod wwdg;

use crate::partners::wires::Wires;
use crate::timebase::Frequency;
use registers::{Registers, Unmodelled};
use serde::{Deserialize, Serialize};

/// A peripheral. It is found by its address, and brought up to date when it is accessed, when its
/// clocks change, and at the events that it announces.
///
/// The SoC first checks every access against [`Registers`] and merges narrow writes, so an
/// implementation sees only accesses that its table allows.
pub trait Peripheral: Stored {
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

    /// Whether reading this register can change the interrupts or the next event.
    fn read_has_effect(&self, offset: u32) -> bool {
        let _ = offset;
        false
    }

    /// Returns to the state after reset (RCC_*RSTR).
    fn reset(&mut self);

    /// Takes over the clocks from cycle `now` on.
    fn set_clocks(&mut self, clocks: &Supply, now: u64) {
        let _ = (clocks, now);
    }

    /// The cycle by which [`Peripheral::advance`] must be called. `None`: nothing will happen.
    fn next_event(&self) -> Option<u64> {
        None
    }

    /// Does what happens up to cycle `now`.
    fn advance(&mut self, now: u64) {
        let _ = now;
    }

    /// The levels of its interrupt lines. Bit n is the nth line of the chip's table.
    fn interrupts(&self) -> u32 {
        0
    }

    /// Its wires, if partners can hang on them.
    fn wires(&self) -> Option<&Wires> {
        None
    }

    fn wires_mut(&mut self) -> Option<&mut Wires> {
        None
    }

    /// The reset of the chip that has become due. It is told once.
    fn take_reset(&mut self) -> Option<ResetCause> {
        None
    }
}

/// The clocks that reach a peripheral.
#[derive(Clone, Copy, Debug)]
pub struct Supply {
    /// Core cycles per clock of its bus. `None` while RCC gates the clock.
    pub bus: Option<u64>,
    /// Core cycles per clock of a timer on its bus. `None` while RCC gates the clock.
    pub timer: Option<u64>,
    pub core: Frequency,
    /// PLL48CLK. `None` while it is off or RCC gates the clock.
    pub pll_48: Option<Frequency>,
    /// RCC_CSR.LSION.
    pub lsi_on: bool,
}

/// What snapshots need of a peripheral. Every one that can be cloned and serialized has it.
pub trait Stored: Send + Sync {
    fn boxed(&self) -> Box<dyn Peripheral>;
    fn stored(&self) -> Vec<u8>;
}

impl<T: Peripheral + Clone + Serialize + Send + Sync + 'static> Stored for T {
    fn boxed(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }

    fn stored(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("every field has an encoding")
    }
}

/// The offsets of a peripheral's registers that have fast paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fast {
    /// What programs poll: reading it changes nothing that a second read would not, and gives the same
    /// value until the next event.
    pub polled: u32,
    /// What programs write most often: bytes to send, the levels of pins.
    pub written: u32,
}

impl Fast {
    /// No register of a peripheral is there.
    const NOWHERE: u32 = u32::MAX;
    pub const NONE: Fast = Fast {
        polled: Fast::NOWHERE,
        written: Fast::NOWHERE,
    };
}

/// Why the chip is reset while it has power (§6.1.1). The debugger resets by the pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResetCause {
    Pin,
    /// The supply fell below the threshold of the option bytes.
    BrownOut,
    Software,
    IndependentWatchdog,
    WindowWatchdog,
}

#[cfg(test)]
mod svd;

#[cfg(test)]
pub mod tests {
    use super::Peripheral;

    /// A step of a test of a peripheral alone. The cycle comes last, as in [`Peripheral::write`].
    #[derive(Debug)]
    pub enum Step {
        /// Writes this value to the register at this offset.
        Write(u32, u32, u64),
        /// The register at this offset must read as this value.
        Read(u32, u32, u64),
        /// These bits of the register at this offset must read as this value.
        Bits(u32, u32, u32, u64),
        Advance(u64),
        /// The next event must be announced for this cycle.
        Event(Option<u64>),
        /// The levels of the interrupt lines must be these bits.
        Interrupts(u32),
    }
    pub use Step::{Advance, Bits, Event, Interrupts, Read, Write};

    pub trait Follow: Peripheral {
        /// Takes the steps one after the other.
        #[track_caller]
        fn follow<const STEPS: usize>(&mut self, steps: [Step; STEPS]) {
            for step in steps {
                match step {
                    Write(offset, value, now) => self.write(offset, value, now).unwrap(),
                    Read(offset, value, now) => {
                        assert_eq!(self.read(offset, now), value, "{step:?}");
                    }
                    Bits(offset, bits, value, now) => {
                        assert_eq!(self.read(offset, now) & bits, value, "{step:?}");
                    }
                    Advance(now) => self.advance(now),
                    Event(cycle) => assert_eq!(self.next_event(), cycle, "{step:?}"),
                    Interrupts(lines) => assert_eq!(self.interrupts(), lines, "{step:?}"),
                }
            }
        }
    }

    impl<P: Peripheral> Follow for P {}
}
