//! SPI (RM0368 §20.5) as a master in full duplex, with nothing connected: MISO is pulled high, so
//! that every frame reads ones.
//!
//! A frame takes its bits at the rate of CR1.BR. As soon as it starts the data register is free.

use super::registers::{Register, Registers, Unmodelled};
use super::{Peripheral, Supply};
use serde::{Deserialize, Serialize};

const CR1: u32 = 0x00;
const CR2: u32 = 0x04;
const SR: u32 = 0x08;
const DR: u32 = 0x0C;

const CPHA_CPOL: u32 = 0b11;
const MSTR: u32 = 1 << 2;
const BR_SHIFT: u32 = 3;
const BR: u32 = 0b111 << BR_SHIFT;
const SPE: u32 = 1 << 6;
const LSBFIRST: u32 = 1 << 7;
const SSI: u32 = 1 << 8;
const SSM: u32 = 1 << 9;
const DFF: u32 = 1 << 11;
const CR1_BITS: u32 = CPHA_CPOL | MSTR | BR | SPE | LSBFIRST | SSI | SSM | DFF;

const SSOE: u32 = 1 << 2;
const ERRIE: u32 = 1 << 5;
const RXNEIE: u32 = 1 << 6;
const TXEIE: u32 = 1 << 7;

const RXNE: u32 = 1 << 0;
const TXE: u32 = 1 << 1;
const OVR: u32 = 1 << 6;
const BSY: u32 = 1 << 7;

static TABLE: &[Register] = &[
    // Missing: half duplex, reception only, CRC.
    Register::new(CR1, "CR1", 0, CR1_BITS).missing(0xF400),
    // Missing: DMA requests and the TI frame.
    Register::new(CR2, "CR2", 0, SSOE | ERRIE | RXNEIE | TXEIE).missing(0x13),
    // Missing: nothing sets CRCERR, MODF, UDR and FRE.
    Register::new(SR, "SR", TXE, 0).inert(!0),
    Register::new(DR, "DR", 0, 0xFFFF).inert(!0xFFFF),
    Register::new(0x10, "CRCPR", 7, 0xFFFF),
    Register::new(0x14, "RXCRCR", 0, 0).inert(!0),
    Register::new(0x18, "TXCRCR", 0, 0).inert(!0),
    // Missing: I2S. Its mode is off, in which the other bits have no effect.
    Register::new(0x1C, "I2SCFGR", 0, 0).missing(0xFBF),
    Register::new(0x20, "I2SPR", 2, 0x3FF),
];

#[derive(Clone, Serialize, Deserialize)]
pub struct Spi {
    registers: Registers,
    /// Core cycles per PCLK; `None` while RCC gates the clock.
    divider: Option<u64>,
    /// The end of the frame in the shift register.
    shifting: Option<u64>,
    /// A frame waits in the data register.
    holding: bool,
    /// DR was read since OVR was set: the first half of the sequence that clears it (§20.3.10).
    data_read: bool,
}

impl Spi {
    /// `name` is SPI1, for example.
    pub fn new(name: &'static str) -> Spi {
        Spi {
            registers: Registers::new(name, TABLE),
            divider: None,
            shifting: None,
            holding: false,
            data_read: false,
        }
    }

    pub fn interrupt(&self) -> bool {
        let (enables, status) = (self.registers.get(CR2), self.registers.get(SR));
        let raises = |enable, flag| enables & enable != 0 && status & flag != 0;
        raises(TXEIE, TXE) || raises(RXNEIE, RXNE) || raises(ERRIE, OVR)
    }

    /// §20.3.10: a frame that finds the last one unread is lost.
    fn received(&mut self) {
        if self.registers.get(SR) & RXNE != 0 {
            self.data_read = false;
            self.registers.set_bits(SR, OVR, true);
            return;
        }
        let frame = self.ones();
        self.registers.set(DR, frame);
        self.registers.set_bits(SR, RXNE, true);
    }

    /// What a frame reads from a line that is high.
    fn ones(&self) -> u32 {
        if self.registers.get(CR1) & DFF != 0 {
            0xFFFF
        } else {
            0xFF
        }
    }

    /// Core cycles of a frame: 8 or 16 bits of 2^(BR + 1) PCLK cycles.
    fn frame_cycles(&self) -> u64 {
        let rate = (self.registers.get(CR1) & BR) >> BR_SHIFT;
        u64::from(self.ones().count_ones()) * (2 << rate) * self.divider.unwrap_or(1)
    }

    fn start(&mut self, now: u64) {
        self.shifting = Some(now + self.frame_cycles());
        self.registers.set_bits(SR, TXE | BSY, true);
    }

    /// Whether the clock runs: a master that is on. A slave gets none, since nothing is connected.
    fn clocks(&self) -> bool {
        self.divider.is_some() && self.registers.get(CR1) & (SPE | MSTR) == SPE | MSTR
    }

    fn transmit(&mut self, now: u64) {
        if self.clocks() && self.shifting.is_none() {
            self.start(now);
        } else {
            self.holding = true;
            self.registers.set_bits(SR, TXE, false);
        }
    }

    fn write_control(&mut self, value: u32, now: u64) -> Result<(), Unmodelled> {
        let selects_by_pin =
            value & (SPE | MSTR | SSM) == SPE | MSTR && self.registers.get(CR2) & SSOE == 0;
        if selects_by_pin || value & (SPE | MSTR | SSM | SSI) == SPE | MSTR | SSM {
            return Err(self.registers.refuse(CR1, "a master that NSS switches off"));
        }
        self.registers.set(CR1, value);
        if value & SPE == 0 {
            self.shifting = None;
            self.registers.set_bits(SR, BSY, false);
        } else if self.holding && self.clocks() && self.shifting.is_none() {
            self.holding = false;
            self.start(now);
        }
        Ok(())
    }
}

impl Peripheral for Spi {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn read(&mut self, offset: u32, now: u64) -> u32 {
        self.advance(now);
        let value = self.registers.get(offset);
        match offset {
            DR => {
                self.data_read = true;
                self.registers.set_bits(SR, RXNE, false);
            }
            SR if std::mem::take(&mut self.data_read) => {
                self.registers.set_bits(SR, OVR, false);
            }
            _ => {}
        }
        value
    }

    fn write(&mut self, offset: u32, value: u32, now: u64) -> Result<(), Unmodelled> {
        self.advance(now);
        match offset {
            CR1 => self.write_control(value, now)?,
            DR => self.transmit(now),
            SR => {}
            _ => self.registers.set(offset, value),
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.registers.reset();
        self.shifting = None;
        self.holding = false;
        self.data_read = false;
    }

    fn next_event(&self) -> Option<u64> {
        self.shifting
    }

    fn advance(&mut self, now: u64) {
        while let Some(end) = self.shifting.filter(|end| *end <= now) {
            self.shifting = None;
            self.received();
            if std::mem::take(&mut self.holding) {
                self.start(end);
            } else {
                self.registers.set_bits(SR, BSY, false);
            }
        }
    }

    fn read_has_effect(&self, offset: u32) -> bool {
        matches!(offset, DR | SR)
    }

    fn interrupts(&self) -> u32 {
        u32::from(self.interrupt())
    }

    fn set_clocks(&mut self, clocks: &Supply, _now: u64) {
        self.divider = clocks.bus;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ON: u32 = SPE | MSTR | SSM | SSI;

    /// One core cycle per PCLK.
    fn started(control: u32) -> Spi {
        let mut spi = Spi::new("SPI1");
        spi.divider = Some(1);
        spi.write(CR1, control, 0).unwrap();
        spi
    }

    #[test]
    fn a_frame_takes_its_bits_at_the_rate_and_reads_ones() {
        // BR = 2: PCLK / 8. 8 bits take 64 cycles.
        let mut spi = started(ON | 2 << BR_SHIFT);
        spi.write(DR, 0x55, 100).unwrap();
        assert_eq!(spi.read(SR, 163), TXE | BSY);
        assert_eq!(spi.read(SR, 164), TXE | RXNE);
        assert_eq!(spi.read(DR, 165), 0xFF);
        assert_eq!(spi.read(SR, 166), TXE);
        // 16 bits of PCLK / 2 take 32 cycles.
        let mut spi = started(ON | DFF);
        spi.write(DR, 0x55, 0).unwrap();
        assert_eq!(spi.next_event(), Some(32));
        assert_eq!(spi.read(DR, 32), 0xFFFF);
    }

    #[test]
    fn two_frames_follow_each_other_and_an_unread_one_overruns() {
        let mut spi = started(ON);
        spi.write(DR, 1, 0).unwrap();
        spi.write(DR, 2, 1).unwrap();
        assert_eq!(spi.read(SR, 15), BSY);
        assert_eq!(spi.read(SR, 16), TXE | BSY | RXNE);
        assert_eq!(spi.read(SR, 32), TXE | RXNE | OVR);
        // DR, then SR clear OVR.
        spi.read(DR, 33);
        assert_eq!(spi.read(SR, 33), TXE | OVR);
        assert_eq!(spi.read(SR, 34), TXE);
    }

    #[test]
    fn interrupts_follow_their_enables() {
        let mut spi = started(ON);
        assert!(!spi.interrupt());
        spi.write(CR2, TXEIE, 0).unwrap();
        assert!(spi.interrupt());
        spi.write(CR2, RXNEIE, 0).unwrap();
        spi.write(DR, 1, 0).unwrap();
        assert!(!spi.interrupt());
        spi.advance(16);
        assert!(spi.interrupt());
    }

    #[test]
    fn a_slave_gets_no_clock() {
        let mut spi = started(SPE | SSM);
        spi.write(DR, 1, 0).unwrap();
        assert_eq!(spi.read(SR, 1_000_000), 0);
        assert!(started(0).write(CR1, SPE | MSTR, 0).is_err());
    }
}
