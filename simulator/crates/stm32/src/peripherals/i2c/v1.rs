//! I2C (RM0368 §18.6, RM0008 §26.6) of the STM32F4 and the STM32F1, as a master.

use super::super::registers::{registers, Registers, Unmodelled};
use super::super::{Peripheral, Supply};
use super::{Ended, Line, Role};
use crate::partners::wires::Wires;
use serde::{Deserialize, Serialize};

const PE: u32 = 1 << 0;
const START: u32 = 1 << 8;
const STOP: u32 = 1 << 9;
const SWRST: u32 = 1 << 15;
const ACK: u32 = 1 << 10;
const POS: u32 = 1 << 11;
/// ENGC and NOSTRETCH are those of a slave.
const CR1_BITS: u32 = PE | 0b11 << 6 | START | STOP | ACK | POS | SWRST;

const ITERREN: u32 = 1 << 8;
const ITEVTEN: u32 = 1 << 9;
const ITBUFEN: u32 = 1 << 10;

const SB: u32 = 1 << 0;
const ADDR: u32 = 1 << 1;
const BTF: u32 = 1 << 2;
const RXNE: u32 = 1 << 6;
const TXE: u32 = 1 << 7;
const AF: u32 = 1 << 10;
/// BERR, ARLO, AF, OVR, PECERR, TIMEOUT and SMBALERT are cleared by writing zero.
const ERRORS: u32 = 0xDF00;
const MSL: u32 = 1 << 0;
const BUSY: u32 = 1 << 1;
const TRA: u32 = 1 << 2;

const FAST: u32 = 1 << 15;
const DUTY: u32 = 1 << 14;

registers! {
    TABLE:
    // Missing: SMBus, PEC and ALERT.
    CR1 = 0x00, 0, CR1_BITS, missing 0x303A;
    // Missing: DMA requests.
    CR2 = 0x04, 0, 0x3F | ITERREN | ITEVTEN | ITBUFEN, missing 0x1800;
    // Own addresses, which no other master calls.
    OAR1 = 0x08, 0, 0xC3FF;
    OAR2 = 0x0C, 0, 0xFF;
    DR = 0x10, 0, 0xFF, inert !0xFF;
    SR1 = 0x14, 0, ERRORS, inert !ERRORS;
    SR2 = 0x18, 0, 0, inert !0;
    CCR = 0x1C, 0, FAST | DUTY | 0xFFF;
    TRISE = 0x20, 2, 0x3F;
    // The noise filters delay edges; the delay is not modelled.
    FLTR = 0x24, 0, 0x1F;
}

#[derive(Clone, Serialize, Deserialize)]
pub struct I2c {
    registers: Registers,
    /// Core cycles per PCLK1; `None` while RCC gates the clock.
    divider: Option<u64>,
    line: Line,
    role: Role,
    /// SR1 was read while SB, or ADDR, was set: the first half of the sequences that clear them (§18.6.6).
    start_seen: bool,
    address_seen: bool,
    /// A byte waits in DR to be sent.
    to_send: Option<u8>,
    /// A byte waits in the shift register, since DR was not read.
    held: Option<u8>,
    /// With POS, what the ninth bit of the byte under way is.
    next_acknowledge: bool,
    /// The last byte was not acknowledged: no other follows.
    refused: bool,
}

impl I2c {
    /// `name` is I2C1, for example.
    pub fn new(name: &'static str) -> I2c {
        I2c {
            registers: Registers::new(name, TABLE),
            divider: None,
            line: Line::default(),
            role: Role::Idle,
            start_seen: false,
            address_seen: false,
            to_send: None,
            held: None,
            next_acknowledge: false,
            refused: false,
        }
    }

    fn event_interrupt(&self) -> bool {
        let (enabled, status) = (self.registers.get(CR2), self.registers.get(SR1));
        let buffer = if enabled & ITBUFEN != 0 {
            TXE | RXNE
        } else {
            0
        };
        enabled & ITEVTEN != 0 && status & (SB | ADDR | BTF | buffer) != 0
    }

    fn error_interrupt(&self) -> bool {
        self.registers.has(CR2, ITERREN) && self.registers.has(SR1, ERRORS)
    }

    /// §18.6.8: in standard mode SCL is low and high for CCR cycles of PCLK1 each; in fast mode it is low
    /// for 2 and high for 1 times CCR, or, with DUTY, 16 and 9.
    fn take_rate(&mut self) {
        let clock = self.registers.get(CCR);
        let (low, high) = match clock & (FAST | DUTY) {
            0 | DUTY => (1, 1),
            FAST => (2, 1),
            _ => (16, 9),
        };
        let cycles = u64::from(clock & 0xFFF) * self.divider.unwrap_or(1);
        (self.line.low, self.line.high) = (low * cycles, high * cycles);
    }

    fn status(&mut self, bits: u32, on: bool) {
        self.registers.set_bits(SR1, bits, on);
    }

    /// Begins what CR1 or DR asks for, if the bus is free for it.
    fn begin(&mut self, now: u64) {
        let control = self.registers.get(CR1);
        if !self.line.is_free() || self.divider.is_none() || control & PE == 0 {
            return;
        }
        let status = self.registers.get(SR1);
        // §18.6.1: a STOP or START comes after the byte under way. A receiver has one from the moment on
        // that ADDR is cleared.
        let waits = status & ADDR != 0 && !self.registers.has(SR2, TRA);
        let is_master = self.registers.has(SR2, MSL);
        self.take_rate();
        if control & STOP != 0 && is_master && !waits {
            self.line.stop(now);
        } else if control & START != 0 && !waits {
            self.line.start(now);
        } else if status & ADDR == 0 {
            self.go_on(now);
        }
    }

    /// The next byte, if there is one, or room for it.
    fn go_on(&mut self, now: u64) {
        match self.role {
            Role::Transmitter => {
                if let Some(byte) = self.to_send.take() {
                    self.status(TXE, true);
                    self.line.send(byte, now);
                }
            }
            Role::Receiver if self.held.is_none() && !self.refused => self.line.receive(now),
            _ => {}
        }
    }

    fn write_data(&mut self, byte: u8, now: u64) {
        let may_address = self.registers.has(SR1, SB) && std::mem::take(&mut self.start_seen);
        if may_address && self.line.is_free() {
            self.status(SB, false);
            self.role = Role::Calls {
                reads: byte & 1 != 0,
            };
            self.take_rate();
            self.line.address(byte, now);
        } else if self.role == Role::Transmitter {
            self.status(TXE | BTF, false);
            self.to_send = Some(byte);
            self.begin(now);
        }
    }

    fn read_data(&mut self, now: u64) {
        self.status(RXNE | BTF, false);
        if let Some(byte) = self.held.take() {
            self.registers.set(DR, byte.into());
            self.status(RXNE, true);
        }
        self.begin(now);
    }

    /// The second half of the sequence that clears ADDR.
    fn read_second_status(&mut self, now: u64) {
        if self.registers.has(SR1, ADDR) && std::mem::take(&mut self.address_seen) {
            self.status(ADDR, false);
            self.next_acknowledge = self.registers.has(CR1, ACK);
            self.begin(now);
        }
    }

    fn write_control(&mut self, value: u32, now: u64) {
        self.registers.set(CR1, value);
        if value & (PE | SWRST) != PE {
            // §18.6.1: without PE, and under reset, nothing is under way.
            self.stand_still();
            self.registers.set(SR1, 0);
            self.registers.set(SR2, 0);
            self.registers.set_bits(CR1, START | STOP, false);
        }
        self.begin(now);
    }

    fn stand_still(&mut self) {
        self.line.release();
        self.role = Role::Idle;
        self.start_seen = false;
        self.address_seen = false;
        self.to_send = None;
        self.held = None;
        self.refused = false;
    }

    /// §18.3.3: ACK, or with POS what it was before the byte under way.
    fn decide_acknowledge(&mut self, end: u64) {
        let control = self.registers.get(CR1);
        let present = control & ACK != 0;
        let before = std::mem::replace(&mut self.next_acknowledge, present);
        let acknowledged = if control & POS != 0 { before } else { present };
        self.line.acknowledge(acknowledged, end);
    }

    /// The ninth bit of a byte.
    fn byte_ended(&mut self, acknowledged: bool) {
        match self.role {
            Role::Calls { reads } if acknowledged => {
                self.role = if reads {
                    Role::Receiver
                } else {
                    Role::Transmitter
                };
                self.registers.set_bits(SR2, TRA, !reads);
                self.status(ADDR, true);
                self.status(TXE, !reads);
                self.refused = false;
            }
            Role::Receiver => {
                self.refused = !acknowledged;
                if self.registers.has(SR1, RXNE) {
                    self.held = Some(self.line.byte);
                    self.status(BTF, true);
                } else {
                    self.registers.set(DR, self.line.byte.into());
                    self.status(RXNE, true);
                }
            }
            Role::Transmitter if acknowledged => self.status(BTF, self.to_send.is_none()),
            _ => {
                self.role = Role::Idle;
                self.status(AF, true);
                self.status(TXE, false);
            }
        }
    }
}

impl Peripheral for I2c {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn read(&mut self, offset: u32, now: u64) -> u32 {
        self.advance(now);
        let value = self.registers.get(offset);
        match offset {
            SR1 => {
                self.start_seen |= value & SB != 0;
                self.address_seen |= value & ADDR != 0;
            }
            SR2 => self.read_second_status(now),
            DR => self.read_data(now),
            _ => {}
        }
        value
    }

    fn write(&mut self, offset: u32, value: u32, now: u64) -> Result<(), Unmodelled> {
        self.advance(now);
        match offset {
            CR1 => self.write_control(value, now),
            DR => self.write_data(value as u8, now),
            SR1 => {
                let flags = self.registers.get(SR1) & (value | !ERRORS);
                self.registers.set(SR1, flags);
            }
            _ => self.registers.set(offset, value),
        }
        Ok(())
    }

    fn read_has_effect(&self, offset: u32) -> bool {
        matches!(offset, SR2 | DR)
    }

    fn reset(&mut self) {
        self.registers.reset();
        self.stand_still();
    }

    fn next_event(&self) -> Option<u64> {
        self.line.next_event()
    }

    fn advance(&mut self, now: u64) {
        while let Some((ended, end)) = self.line.take_ended(now) {
            match ended {
                Ended::Start => {
                    self.registers.set_bits(CR1, START, false);
                    self.status(TXE | BTF | ADDR, false);
                    self.status(SB, true);
                    self.registers.set_bits(SR2, TRA, false);
                    self.registers.set_bits(SR2, MSL | BUSY, true);
                    self.role = Role::Idle;
                    self.to_send = None;
                }
                Ended::Byte => {
                    self.decide_acknowledge(end);
                    continue;
                }
                Ended::Acknowledge(acknowledged) => self.byte_ended(acknowledged),
                Ended::Stop => {
                    self.registers.set_bits(CR1, STOP, false);
                    self.registers.set_bits(SR2, MSL | BUSY | TRA, false);
                    self.status(TXE | BTF | ADDR, false);
                    self.role = Role::Idle;
                    self.to_send = None;
                }
            }
            self.begin(end);
        }
    }

    /// The line of events, then the line of errors.
    fn interrupts(&self) -> u32 {
        u32::from(self.event_interrupt()) | u32::from(self.error_interrupt()) << 1
    }

    fn set_clocks(&mut self, clocks: &Supply, now: u64) {
        self.divider = clocks.bus;
        self.line.wires.set_clock(clocks.core, now);
    }

    fn wires(&self) -> Option<&Wires> {
        Some(&self.line.wires)
    }

    fn wires_mut(&mut self) -> Option<&mut Wires> {
        Some(&mut self.line.wires)
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::peripherals::tests::*;

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
        i2c.follow([
            Write(CR1, PE | START, 100),
            Read(SR1, 0, 519),
            Read(SR1, SB, 520),
            Read(SR2, MSL | BUSY, 520),
            Read(CR1, PE, 520),
            Write(DR, 0xA0, 600),
            Read(SR1, 0, 600 + 9 * 840 - 1),
            Read(SR1, AF, 600 + 9 * 840),
            Write(SR1, !AF, 9_000),
            Write(CR1, PE | STOP, 9_000),
            Read(SR2, MSL | BUSY, 9_419),
            Read(SR2, 0, 9_420),
            Read(SR1, 0, 9_420),
            Read(CR1, PE, 9_420),
        ]);
    }

    #[test]
    fn fast_mode_has_its_own_periods() {
        let mut i2c = started();
        // 42 MHz / (3 × 35) = 400 kHz, then 25 × 4 = 100 cycles of PCLK1.
        for (clock, low, high) in [(FAST | 35, 140, 70), (FAST | DUTY | 4, 128, 72)] {
            i2c.write(CCR, clock, 0).unwrap();
            i2c.take_rate();
            assert_eq!((i2c.line.low, i2c.line.high), (low, high));
        }
    }

    #[test]
    fn interrupts_for_events_and_errors() {
        let mut i2c = started();
        i2c.follow([
            Write(CR2, 42 | ITEVTEN | ITERREN, 0),
            Write(CR1, PE | START, 0),
            Advance(420),
        ]);
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
        i2c.follow([
            Write(CR1, PE | START, 0),
            Advance(500),
            Write(CR1, SWRST, 600),
            Read(SR1, 0, 600),
            Read(SR2, 0, 600),
        ]);
    }
}
