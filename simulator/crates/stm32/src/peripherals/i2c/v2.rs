//! I2C of the newer lines (RM0351 §39.7, RM0091 §26.7), as a master.

use super::super::registers::{registers, Registers, Unmodelled};
use super::super::{Peripheral, Supply};
use super::{Ended, Line, Role};
use crate::partners::wires::Wires;
use crate::timebase::Frequency;
use serde::{Deserialize, Serialize};

const PE: u32 = 1 << 0;
/// TXIE, RXIE, NACKIE and STOPIE have the places of their flags in ISR, TCIE that of TC.
const TXIE: u32 = 1 << 1;
const RXIE: u32 = 1 << 2;
const NACKIE: u32 = 1 << 4;
const STOPIE: u32 = 1 << 5;
const TCIE: u32 = 1 << 6;
const DNF_SHIFT: u32 = 8;
/// ADDRIE, SBC, NOSTRETCH and GCEN are those of a slave; ANFOFF switches a filter that takes no time.
const CR1_BITS: u32 = 0x000B_1FFF;

const RD_WRN: u32 = 1 << 10;
const START: u32 = 1 << 13;
const STOP: u32 = 1 << 14;
const RELOAD: u32 = 1 << 24;
const AUTOEND: u32 = 1 << 25;
const NBYTES_SHIFT: u32 = 16;
/// NACK is a slave's.
const CR2_BITS: u32 = 0x03FF_E7FF;
/// ADD10, HEAD10R, PECBYTE.
const CR2_MISSING: u32 = 0x0400_1800;

const TXE: u32 = 1 << 0;
const TXIS: u32 = 1 << 1;
const RXNE: u32 = 1 << 2;
const NACKF: u32 = 1 << 4;
const STOPF: u32 = 1 << 5;
const TC: u32 = 1 << 6;
const TCR: u32 = 1 << 7;
const BUSY: u32 = 1 << 15;
/// NACKCF, STOPCF and those of a slave and of errors, at the places of their flags.
const CLEARED: u32 = 0x3F38;

/// What SCL takes beside SCLL and SCLH to be seen low, and high (§39.4.10, tSYNC1 and tSYNC2): two cycles
/// of the kernel's clock, and the digital filter. The analog filter and the edges are left out.
const SYNC_CLOCKS: u64 = 2;

registers! {
    TABLE:
    // Missing: DMA requests, wake-up from Stop, SMBus, PEC.
    CR1 = 0x00, 0, CR1_BITS, missing 0x00F4_C000;
    CR2 = 0x04, 0, CR2_BITS, missing CR2_MISSING;
    // Own addresses, which no other master calls.
    OAR1 = 0x08, 0, 0x87FF;
    OAR2 = 0x0C, 0, 0x87FE;
    TIMINGR = 0x10, 0, 0xF0FF_FFFF;
    TIMEOUTR = 0x14, 0, 0, missing 0x8FFF_9FFF;
    ISR = 0x18, TXE, TXE | TXIS, inert !(TXE | TXIS);
    ICR = 0x1C, 0, CLEARED;
    PECR = 0x20, 0, 0, inert !0;
    RXDR = 0x24, 0, 0, inert !0;
    TXDR = 0x28, 0, 0xFF;
}

#[derive(Clone, Serialize, Deserialize)]
pub struct I2c {
    registers: Registers,
    /// Core cycles per PCLK; `None` while RCC gates the clock.
    divider: Option<u64>,
    core: Frequency,
    /// The clock of the kernel in MHz, if it is not PCLK.
    kernel_mhz: Option<u64>,
    line: Line,
    role: Role,
    /// Bytes of NBYTES that are to come.
    left: u32,
    /// A byte waits in TXDR.
    to_send: Option<u8>,
    /// A byte waits in the shift register, since RXDR was not read.
    held: Option<u8>,
}

impl I2c {
    /// `name` is I2C1, for example.
    pub fn new(name: &'static str, kernel_mhz: Option<u64>) -> I2c {
        I2c {
            registers: Registers::new(name, TABLE),
            divider: None,
            core: Frequency::hz(1),
            kernel_mhz,
            line: Line::default(),
            role: Role::Idle,
            left: 0,
            to_send: None,
            held: None,
        }
    }

    fn status(&mut self, bits: u32, on: bool) {
        self.registers.set_bits(ISR, bits, on);
    }

    fn is_set(&self, bits: u32) -> bool {
        self.registers.has(ISR, bits)
    }

    /// Core cycles of so many of the kernel's clock.
    fn core_cycles(&self, clocks: u64) -> u64 {
        match self.kernel_mhz {
            None => clocks * self.divider.unwrap_or(1),
            Some(mhz) => {
                let hz = mhz * 1_000_000 * self.core.denominator;
                (clocks * self.core.numerator).div_ceil(hz)
            }
        }
    }

    /// §39.7.5, §39.4.10.
    fn take_rate(&mut self) {
        let timing = u64::from(self.registers.get(TIMINGR));
        let filter = u64::from(self.registers.get(CR1) >> DNF_SHIFT & 0xF);
        let (prescaler, high, low) = (timing >> 28, timing >> 8 & 0xFF, timing & 0xFF);
        let clocks = |count: u64| (prescaler + 1) * (count + 1) + SYNC_CLOCKS + filter;
        self.line.low = self.core_cycles(clocks(low));
        self.line.high = self.core_cycles(clocks(high));
    }

    /// Begins what CR2 or the data ask for, if the bus is free for it.
    fn begin(&mut self, now: u64) {
        let (control, command) = (self.registers.get(CR1), self.registers.get(CR2));
        if !self.line.is_free() || self.divider.is_none() || control & PE == 0 {
            return;
        }
        self.take_rate();
        let transfers = matches!(self.role, Role::Transmitter | Role::Receiver);
        let ends = self.is_set(TC) || self.left == 0 && command & (AUTOEND | RELOAD) == 0;
        if command & STOP != 0 && self.is_set(BUSY) {
            self.line.stop(now);
        } else if command & START != 0 && (!transfers || ends) {
            // A START in the midst of a transfer waits for its end, or for its STOP.
            self.status(TC | TCR, false);
            self.left = command >> NBYTES_SHIFT & 0xFF;
            self.line.start(now);
        } else {
            self.go_on(now);
        }
    }

    /// The next byte, if there is one, or room for it; behind the last one what CR2 says.
    fn go_on(&mut self, now: u64) {
        if !matches!(self.role, Role::Transmitter | Role::Receiver) || self.is_set(TC | TCR) {
            return;
        }
        let command = self.registers.get(CR2);
        match (self.left, self.role) {
            (0, _) if command & RELOAD != 0 => self.status(TCR, true),
            (0, _) if command & AUTOEND != 0 => self.line.stop(now),
            (0, _) => self.status(TC, true),
            (_, Role::Transmitter) => match self.to_send.take() {
                Some(byte) => {
                    self.left -= 1;
                    self.status(TXE, true);
                    self.status(TXIS, self.left > 0);
                    self.line.send(byte, now);
                }
                None => self.status(TXIS, true),
            },
            _ if self.held.is_none() => self.line.receive(now),
            _ => {}
        }
    }

    fn write_command(&mut self, value: u32, now: u64) {
        self.registers.set(CR2, value);
        let bytes = value >> NBYTES_SHIFT & 0xFF;
        if self.is_set(TCR) && bytes != 0 {
            self.status(TCR, false);
            self.left = bytes;
        }
        self.begin(now);
    }

    /// §39.7.1: without PE nothing is under way, and the flags have the values after reset.
    fn stand_still(&mut self) {
        self.line.release();
        self.role = Role::Idle;
        self.to_send = None;
        self.held = None;
        self.registers.set_bits(CR2, START | STOP, false);
        self.registers.set(ISR, TXE);
    }

    /// The ninth bit of a byte.
    fn byte_ended(&mut self, acknowledged: bool, end: u64) {
        match self.role {
            Role::Calls { reads } if acknowledged => {
                self.registers.set_bits(CR2, START, false);
                self.role = if reads {
                    Role::Receiver
                } else {
                    Role::Transmitter
                };
            }
            Role::Receiver => match self.is_set(RXNE) {
                true => self.held = Some(self.line.byte),
                false => {
                    self.registers.set(RXDR, self.line.byte.into());
                    self.status(RXNE, true);
                }
            },
            Role::Transmitter if acknowledged => {}
            _ => {
                // §39.4.9: a STOP follows by itself.
                self.registers.set_bits(CR2, START, false);
                self.role = Role::Idle;
                self.to_send = None;
                self.status(TXIS, false);
                self.status(NACKF | TXE, true);
                self.line.stop(end);
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
        if offset == RXDR {
            self.status(RXNE, false);
            if let Some(byte) = self.held.take() {
                self.registers.set(RXDR, byte.into());
                self.status(RXNE, true);
            }
            self.begin(now);
        }
        value
    }

    fn write(&mut self, offset: u32, value: u32, now: u64) -> Result<(), Unmodelled> {
        self.advance(now);
        match offset {
            CR1 => {
                self.registers.set(CR1, value);
                if value & PE == 0 {
                    self.stand_still();
                }
            }
            CR2 => self.write_command(value, now),
            ICR => self.status(value & CLEARED, false),
            // TXE flushes TXDR, and TXIS asks for a byte (§39.7.7).
            ISR => {
                if value & TXE != 0 && !self.is_set(TXE) {
                    self.to_send = None;
                    self.status(TXE, true);
                }
            }
            TXDR => {
                self.to_send = Some(value as u8);
                self.status(TXE | TXIS, false);
                self.begin(now);
            }
            _ => self.registers.set(offset, value),
        }
        Ok(())
    }

    fn read_has_effect(&self, offset: u32) -> bool {
        offset == RXDR
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
                    let command = self.registers.get(CR2);
                    let reads = command & RD_WRN != 0;
                    self.status(BUSY, true);
                    self.role = Role::Calls { reads };
                    self.line.address(command as u8 & !1 | u8::from(reads), end);
                }
                // §39.4.9: the last byte is not acknowledged, unless more are to come by RELOAD.
                Ended::Byte => {
                    self.left = self.left.saturating_sub(1);
                    let more = self.left > 0 || self.registers.has(CR2, RELOAD);
                    self.line.acknowledge(more, end);
                }
                Ended::Acknowledge(acknowledged) => self.byte_ended(acknowledged, end),
                Ended::Stop => {
                    self.registers.set_bits(CR2, STOP, false);
                    self.role = Role::Idle;
                    self.status(BUSY | TC | TCR | TXIS, false);
                    self.status(STOPF, true);
                }
            }
            self.begin(end);
        }
    }

    /// The line of events, then the line of errors: those come from other masters, and there are none.
    fn interrupts(&self) -> u32 {
        let (enabled, status) = (self.registers.get(CR1), self.registers.get(ISR));
        let same_place = status & enabled & (TXIE | RXIE | NACKIE | STOPIE);
        let complete = enabled & TCIE != 0 && status & (TC | TCR) != 0;
        u32::from(same_place != 0 || complete)
    }

    fn set_clocks(&mut self, clocks: &Supply, now: u64) {
        self.divider = clocks.bus;
        self.core = clocks.core;
        self.line.wires.set_clock(clocks.core, now);
    }

    fn wires(&self) -> Option<&Wires> {
        Some(&self.line.wires)
    }

    fn wires_mut(&mut self) -> Option<&mut Wires> {
        Some(&mut self.line.wires)
    }
}
