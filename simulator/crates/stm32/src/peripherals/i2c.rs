//! I2C (RM0368 §18.6) as a master of a bus with pull-ups and no slave: every address is answered by
//! NACK.
//!
//! A START or STOP condition takes half a period of SCL, an address with its acknowledge bit nine
//! periods.

use super::registers::{Register, Registers, Unmodelled};
use super::{Peripheral, Supply};
use serde::{Deserialize, Serialize};

const CR1: u32 = 0x00;
const CR2: u32 = 0x04;
const DR: u32 = 0x10;
const SR1: u32 = 0x14;
const SR2: u32 = 0x18;
const CCR: u32 = 0x1C;

const PE: u32 = 1 << 0;
const START: u32 = 1 << 8;
const STOP: u32 = 1 << 9;
const SWRST: u32 = 1 << 15;
/// ENGC, NOSTRETCH, ACK and POS keep their value. Without slaves and data they have no effect.
const CR1_BITS: u32 = PE | 0b11 << 6 | START | STOP | 0b11 << 10 | SWRST;

const ITERREN: u32 = 1 << 8;
const ITEVTEN: u32 = 1 << 9;
const ITBUFEN: u32 = 1 << 10;

const SB: u32 = 1 << 0;
const AF: u32 = 1 << 10;
/// BERR, ARLO, AF, OVR, PECERR, TIMEOUT and SMBALERT are cleared by writing zero.
const ERRORS: u32 = 0xDF00;
const MSL: u32 = 1 << 0;
const BUSY: u32 = 1 << 1;

const FAST: u32 = 1 << 15;
const DUTY: u32 = 1 << 14;

static TABLE: &[Register] = &[
    // Missing: SMBus, PEC and ALERT.
    Register::new(CR1, "CR1", 0, CR1_BITS).missing(0x303A),
    // Missing: DMA requests.
    Register::new(CR2, "CR2", 0, 0x3F | ITERREN | ITEVTEN | ITBUFEN).missing(0x1800),
    // Own addresses, which no other master calls.
    Register::new(0x08, "OAR1", 0, 0xC3FF),
    Register::new(0x0C, "OAR2", 0, 0xFF),
    Register::new(DR, "DR", 0, 0xFF).inert(!0xFF),
    Register::new(SR1, "SR1", 0, ERRORS).inert(!ERRORS),
    Register::new(SR2, "SR2", 0, 0).inert(!0),
    Register::new(CCR, "CCR", 0, FAST | DUTY | 0xFFF),
    Register::new(0x20, "TRISE", 2, 0x3F),
    // The noise filters delay edges; the delay is not modelled.
    Register::new(0x24, "FLTR", 0, 0x1F),
];

/// What is on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Start,
    Address,
    Stop,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct I2c {
    registers: Registers,
    /// Core cycles per PCLK1; `None` while RCC gates the clock.
    divider: Option<u64>,
    /// What is under way, and its end.
    phase: Option<(Phase, u64)>,
    /// SR1 was read while SB was set: the first half of the sequence that clears it (§18.6.6).
    start_seen: bool,
}

impl I2c {
    /// `name` is I2C1, for example.
    pub fn new(name: &'static str) -> I2c {
        I2c {
            registers: Registers::new(name, TABLE),
            divider: None,
            phase: None,
            start_seen: false,
        }
    }

    pub fn event_interrupt(&self) -> bool {
        self.registers.get(CR2) & ITEVTEN != 0 && self.registers.get(SR1) & SB != 0
    }

    pub fn error_interrupt(&self) -> bool {
        self.registers.get(CR2) & ITERREN != 0 && self.registers.get(SR1) & ERRORS != 0
    }

    /// Core cycles of half a period of SCL (§18.6.8): CCR cycles of PCLK1 in standard mode; in fast
    /// mode a period is 3 or, with DUTY, 25 times CCR.
    fn half_period(&self) -> u64 {
        let clock = self.registers.get(CCR);
        let low_and_high = match clock & (FAST | DUTY) {
            0 | DUTY => 2,
            FAST => 3,
            _ => 25,
        };
        u64::from(clock & 0xFFF) * low_and_high * self.divider.unwrap_or(1) / 2
    }

    /// Begins what CR1 asks for, if the bus is free for it.
    fn begin(&mut self, now: u64) {
        let control = self.registers.get(CR1);
        if self.phase.is_some() || self.divider.is_none() || control & PE == 0 {
            return;
        }
        let is_master = self.registers.get(SR2) & MSL != 0;
        let half = self.half_period();
        if control & STOP != 0 && is_master {
            self.phase = Some((Phase::Stop, now + half));
        } else if control & START != 0 {
            self.phase = Some((Phase::Start, now + half));
        }
    }

    fn write_data(&mut self, now: u64) {
        let may_address = self.registers.get(SR1) & SB != 0 && std::mem::take(&mut self.start_seen);
        if may_address && self.phase.is_none() {
            self.registers.set_bits(SR1, SB, false);
            self.phase = Some((Phase::Address, now + 18 * self.half_period()));
        }
    }

    fn write_control(&mut self, value: u32, now: u64) {
        self.registers.set(CR1, value);
        if value & (PE | SWRST) != PE {
            // §18.6.1: without PE, and under reset, nothing is under way.
            self.phase = None;
            self.start_seen = false;
            self.registers.set(SR1, 0);
            self.registers.set(SR2, 0);
            self.registers.set_bits(CR1, START | STOP, false);
        }
        self.begin(now);
    }
}

impl Peripheral for I2c {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn read(&mut self, offset: u32, now: u64) -> u32 {
        self.advance(now);
        let value = self.registers.get(offset);
        if offset == SR1 {
            self.start_seen |= value & SB != 0;
        }
        value
    }

    fn write(&mut self, offset: u32, value: u32, now: u64) -> Result<(), Unmodelled> {
        self.advance(now);
        match offset {
            CR1 => self.write_control(value, now),
            DR => self.write_data(now),
            SR1 => {
                let flags = self.registers.get(SR1) & (value | !ERRORS);
                self.registers.set(SR1, flags);
            }
            _ => self.registers.set(offset, value),
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.registers.reset();
        self.phase = None;
        self.start_seen = false;
    }

    fn next_event(&self) -> Option<u64> {
        self.phase.map(|(_, end)| end)
    }

    fn advance(&mut self, now: u64) {
        let Some((phase, end)) = self.phase.filter(|(_, end)| *end <= now) else {
            return;
        };
        self.phase = None;
        match phase {
            Phase::Start => {
                self.registers.set_bits(CR1, START, false);
                self.registers.set_bits(SR1, SB, true);
                self.registers.set_bits(SR2, MSL | BUSY, true);
            }
            Phase::Address => self.registers.set_bits(SR1, AF, true),
            Phase::Stop => {
                self.registers.set_bits(CR1, STOP, false);
                self.registers.set_bits(SR2, MSL | BUSY, false);
            }
        }
        self.begin(end);
    }

    /// The line of events, then the line of errors.
    fn interrupts(&self) -> u32 {
        u32::from(self.event_interrupt()) | u32::from(self.error_interrupt()) << 1
    }

    fn set_clocks(&mut self, clocks: &Supply, _now: u64) {
        self.divider = clocks.bus;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 42 MHz PCLK1 at half the core clock, 100 kHz: CCR = 210, so half a period is 420 cycles.
    fn started() -> I2c {
        let mut i2c = I2c::new("I2C1");
        i2c.divider = Some(2);
        i2c.write(CR2, 42, 0).unwrap();
        i2c.write(CCR, 210, 0).unwrap();
        i2c.write(CR1, PE, 0).unwrap();
        i2c
    }

    #[test]
    fn an_address_is_not_acknowledged() {
        let mut i2c = started();
        i2c.write(CR1, PE | START, 100).unwrap();
        assert_eq!(i2c.read(SR1, 519), 0);
        assert_eq!(i2c.read(SR1, 520), SB);
        assert_eq!(i2c.read(SR2, 520), MSL | BUSY);
        assert_eq!(i2c.read(CR1, 520), PE);
        i2c.write(DR, 0xA0, 600).unwrap();
        assert_eq!(i2c.read(SR1, 600 + 9 * 840 - 1), 0);
        assert_eq!(i2c.read(SR1, 600 + 9 * 840), AF);
        i2c.write(SR1, !AF, 9_000).unwrap();
        i2c.write(CR1, PE | STOP, 9_000).unwrap();
        assert_eq!(i2c.read(SR2, 9_419), MSL | BUSY);
        assert_eq!((i2c.read(SR2, 9_420), i2c.read(SR1, 9_420)), (0, 0));
        assert_eq!(i2c.read(CR1, 9_420), PE);
    }

    #[test]
    fn fast_mode_has_its_own_periods() {
        let mut i2c = started();
        i2c.write(CCR, FAST | 35, 0).unwrap(); // 42 MHz / (3 × 35) = 400 kHz: 210 cycles
        assert_eq!(i2c.half_period(), 105);
        i2c.write(CCR, FAST | DUTY | 4, 0).unwrap(); // 25 × 4 = 100 PCLK1 cycles
        assert_eq!(i2c.half_period(), 100);
    }

    #[test]
    fn interrupts_for_events_and_errors() {
        let mut i2c = started();
        i2c.write(CR2, 42 | ITEVTEN | ITERREN, 0).unwrap();
        i2c.write(CR1, PE | START, 0).unwrap();
        i2c.advance(420);
        assert!(i2c.event_interrupt() && !i2c.error_interrupt());
        i2c.read(SR1, 420);
        i2c.write(DR, 0, 420).unwrap();
        assert!(!i2c.event_interrupt());
        i2c.advance(420 + 9 * 840);
        assert!(i2c.error_interrupt());
    }

    #[test]
    fn a_software_reset_frees_the_bus() {
        let mut i2c = started();
        i2c.write(CR1, PE | START, 0).unwrap();
        i2c.advance(500);
        i2c.write(CR1, SWRST, 600).unwrap();
        assert_eq!((i2c.read(SR1, 600), i2c.read(SR2, 600)), (0, 0));
    }
}
