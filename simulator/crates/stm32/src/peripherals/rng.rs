//! Random number generator (RM0090 §24.4). Every run gives the same numbers: they come from a
//! generator with a fixed seed, so that runs can be repeated. They pass for no test of randomness.

use super::registers::{registers, Registers, Unmodelled};
use super::{Peripheral, Supply};
use serde::{Deserialize, Serialize};

const RNGEN: u32 = 1 << 2;
const IE: u32 = 1 << 3;
const DRDY: u32 = 1 << 0;
/// SEIS and CEIS, which nothing sets.
const ERROR_FLAGS: u32 = 0b11 << 5;

registers! {
    TABLE:
    CR = 0x00, 0, RNGEN | IE;
    SR = 0x04, 0, 0, inert !0;
    DR = 0x08, 0, 0, inert !0;
}

/// Interrupt number, which the hash processor shares (RM0090 §12.1.3, table 61).
pub const IRQ: u16 = 80;
/// Clocks of PLL48CLK between two numbers (§24.3).
const CLOCKS: u64 = 40;
const SEED: u32 = 0x2545_F491;

#[derive(Clone, Serialize, Deserialize)]
pub struct Rng {
    registers: Registers,
    /// Core cycles of [`CLOCKS`]. `None` while a clock is off.
    period: Option<u64>,
    ready: Option<u64>,
    state: u32,
}

impl Default for Rng {
    fn default() -> Self {
        Rng {
            registers: Registers::new("RNG", TABLE),
            period: None,
            ready: None,
            state: SEED,
        }
    }
}

impl Rng {
    fn begin(&mut self, now: u64) {
        let on = self.registers.has(CR, RNGEN);
        self.ready = self.period.filter(|_| on).map(|period| now + period);
    }
}

impl Peripheral for Rng {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn read(&mut self, offset: u32, now: u64) -> u32 {
        self.advance(now);
        let value = self.registers.get(offset);
        if offset == DR && self.registers.has(SR, DRDY) {
            self.registers.set_bits(SR, DRDY, false);
            self.registers.set(DR, 0);
            self.begin(now);
        }
        value
    }

    fn write(&mut self, offset: u32, value: u32, now: u64) -> Result<(), Unmodelled> {
        self.advance(now);
        match offset {
            CR => {
                let turns_on = value & RNGEN != 0 && !self.registers.has(CR, RNGEN);
                self.registers.set(CR, value);
                if turns_on || value & RNGEN == 0 {
                    self.begin(now);
                }
            }
            _ => self.registers.set_bits(SR, !value & ERROR_FLAGS, false),
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.registers.reset();
        self.ready = None;
    }

    fn next_event(&self) -> Option<u64> {
        self.ready
    }

    fn advance(&mut self, now: u64) {
        if self.ready.is_some_and(|ready| ready <= now) {
            self.ready = None;
            // Marsaglia's xorshift.
            self.state ^= self.state << 13;
            self.state ^= self.state >> 17;
            self.state ^= self.state << 5;
            self.registers.set(DR, self.state);
            self.registers.set_bits(SR, DRDY, true);
        }
    }

    fn read_has_effect(&self, offset: u32) -> bool {
        offset == DR
    }

    fn interrupts(&self) -> u32 {
        u32::from(self.registers.has(CR, IE) && self.registers.has(SR, DRDY))
    }

    fn set_clocks(&mut self, clocks: &Supply, _now: u64) {
        let core = clocks.core;
        self.period = clocks.pll_48.map(|clock| {
            let cycles = CLOCKS * core.numerator * clock.denominator;
            cycles.div_ceil(core.denominator * clock.numerator)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_ready_after_forty_clocks_and_is_read_once() {
        let mut rng = Rng {
            // 168 MHz of the core at 48 MHz: 3.5 cycles a clock.
            period: Some(140),
            ..Rng::default()
        };
        rng.write(CR, RNGEN, 10).unwrap();
        assert_eq!(rng.read(SR, 149), 0);
        assert_eq!(rng.read(SR, 150), DRDY);
        let first = rng.read(DR, 150);
        assert_eq!((rng.read(DR, 151), rng.read(SR, 151)), (0, 0));
        assert_eq!(rng.read(SR, 290), DRDY);
        assert!(first != 0 && rng.read(DR, 290) != first);
    }

    #[test]
    fn without_its_clock_there_is_no_number() {
        let mut rng = Rng::default();
        rng.write(CR, RNGEN | IE, 0).unwrap();
        assert_eq!(rng.next_event(), None);
        rng.advance(1_000_000);
        assert!(rng.interrupts() == 0);
    }
}
