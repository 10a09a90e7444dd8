//! SPI (RM0368 §20.5) as a master in full duplex. Without a partner MISO is pulled high, so that every
//! frame reads ones.
//!
//! A frame takes its bits at the rate of CR1.BR. As soon as it starts the data register is free.

use super::registers::{registers, Registers, Unmodelled};
use super::{Peripheral, Supply};
use crate::partners::wires::{Wires, MISO, MOSI, NSS, SCK};
use serde::{Deserialize, Serialize};

const CPHA: u32 = 1 << 0;
const CPOL: u32 = 1 << 1;
const MSTR: u32 = 1 << 2;
const BR_SHIFT: u32 = 3;
const BR: u32 = 0b111 << BR_SHIFT;
const SPE: u32 = 1 << 6;
const LSBFIRST: u32 = 1 << 7;
const SSI: u32 = 1 << 8;
const SSM: u32 = 1 << 9;
const DFF: u32 = 1 << 11;
const CR1_BITS: u32 = CPHA | CPOL | MSTR | BR | SPE | LSBFIRST | SSI | SSM | DFF;

const SSOE: u32 = 1 << 2;
const ERRIE: u32 = 1 << 5;
const RXNEIE: u32 = 1 << 6;
const TXEIE: u32 = 1 << 7;

const RXNE: u32 = 1 << 0;
const TXE: u32 = 1 << 1;
const OVR: u32 = 1 << 6;
const BSY: u32 = 1 << 7;

registers! {
    TABLE:
    // Missing: half duplex, reception only, CRC.
    CR1 = 0x00, 0, CR1_BITS, missing 0xF400;
    // Missing: DMA requests and the TI frame.
    CR2 = 0x04, 0, SSOE | ERRIE | RXNEIE | TXEIE, missing 0x13;
    // Missing: nothing sets CRCERR, MODF, UDR and FRE.
    SR = 0x08, TXE, 0, inert !0;
    DR = 0x0C, 0, 0xFFFF, inert !0xFFFF;
    CRCPR = 0x10, 7, 0xFFFF;
    RXCRCR = 0x14, 0, 0, inert !0;
    TXCRCR = 0x18, 0, 0, inert !0;
    // Missing: I2S. Its mode is off, in which the other bits have no effect.
    I2SCFGR = 0x1C, 0, 0, missing 0xFBF;
    I2SPR = 0x20, 2, 0x3FF;
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Spi {
    registers: Registers,
    /// Core cycles per PCLK; `None` while RCC gates the clock.
    divider: Option<u64>,
    /// What is in the shift register: the end of the frame, what leaves and what comes.
    shifting: Option<Frame>,
    /// A frame waits in the data register.
    holding: Option<u32>,
    /// DR was read since OVR was set: the first half of the sequence that clears it (§20.3.10).
    data_read: bool,
    wires: Wires,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Frame {
    end: u64,
    sent: u32,
    received: u32,
}

impl Spi {
    /// `name` is SPI1, for example.
    pub fn new(name: &'static str) -> Spi {
        Spi {
            registers: Registers::new(name, TABLE),
            divider: None,
            shifting: None,
            holding: None,
            data_read: false,
            wires: Wires::default(),
        }
    }

    /// §20.3.10: a frame that finds the last one unread is lost.
    fn received(&mut self, frame: u32) {
        if self.registers.has(SR, RXNE) {
            self.data_read = false;
            self.registers.set_bits(SR, OVR, true);
            return;
        }
        self.registers.set(DR, frame);
        self.registers.set_bits(SR, RXNE, true);
    }

    /// Bits of a frame.
    fn bits(&self) -> u32 {
        if self.registers.has(CR1, DFF) {
            16
        } else {
            8
        }
    }

    /// Core cycles of a bit: 2^(BR + 1) PCLK cycles.
    fn bit_cycles(&self) -> u64 {
        let rate = (self.registers.get(CR1) & BR) >> BR_SHIFT;
        (2 << rate) * self.divider.unwrap_or(1)
    }

    /// The bits of a byte as they stand on the wire, the first one highest.
    fn on_wire(&self, byte: u8) -> u8 {
        match self.registers.get(CR1) & LSBFIRST {
            0 => byte,
            _ => byte.reverse_bits(),
        }
    }

    /// A frame in bytes, in the order of the wire: its places in the data register.
    fn places(&self) -> &'static [u32] {
        match (self.bits(), self.registers.get(CR1) & LSBFIRST) {
            (8, _) => &[0],
            (_, 0) => &[8, 0],
            _ => &[0, 8],
        }
    }

    fn start(&mut self, sent: u32, now: u64) {
        let mut received = 0;
        for (n, place) in self.places().iter().enumerate() {
            if n > 0 {
                // Before it sends its second byte the partner has heard the first.
                self.hear(sent, n - 1, now);
            }
            let byte = self.wires.shift_in(now);
            received |= u32::from(self.on_wire(byte)) << place;
        }
        let end = now + u64::from(self.bits()) * self.bit_cycles();
        self.shifting = Some(Frame {
            end,
            sent,
            received,
        });
        self.registers.set_bits(SR, TXE | BSY, true);
        if self.wires.is_occupied() {
            self.draw(sent, received, now);
        }
    }

    /// The partner has the nth byte of a frame.
    fn hear(&mut self, sent: u32, n: usize, now: u64) {
        let byte = self.on_wire((sent >> self.places()[n]) as u8);
        self.wires.hear(byte, SCK | MOSI, now);
    }

    /// §20.3.1: data stands on the wires half a bit before the edge that takes it: the first of a bit, or
    /// with CPHA the second.
    fn draw(&mut self, sent: u32, received: u32, now: u64) {
        let control = self.registers.get(CR1);
        let (idle, active) = if control & CPOL != 0 {
            (SCK, 0)
        } else {
            (0, SCK)
        };
        let (bits, cycles) = (self.bits(), self.bit_cycles());
        for n in 0..bits {
            let place = if control & LSBFIRST != 0 {
                n
            } else {
                bits - 1 - n
            };
            let level = |frame: u32, wire| if frame >> place & 1 != 0 { wire } else { 0 };
            let data = level(sent, MOSI) | level(received, MISO);
            let at = now + u64::from(n) * cycles;
            let first = if control & CPHA != 0 {
                at
            } else {
                at + cycles / 2
            };
            self.wires.draw(at, MOSI | MISO, data);
            self.wires.draw(first, SCK, active);
            self.wires.draw(first + cycles / 2, SCK, idle);
        }
    }

    /// SCK and NSS between frames (§20.3.1): SCK as CPOL says, NSS low while a master that drives it is on.
    fn rest(&mut self, now: u64) {
        let control = self.registers.get(CR1);
        let drives = control & (SPE | MSTR) == SPE | MSTR && self.registers.has(CR2, SSOE);
        let selects = drives && control & SSM == 0;
        let clock = if control & CPOL != 0 { SCK } else { 0 };
        self.wires
            .draw(now, SCK | NSS, clock | if selects { 0 } else { NSS });
    }

    /// Whether the clock runs: a master that is on. A slave gets none, since nothing is connected.
    fn clocks(&self) -> bool {
        self.divider.is_some() && self.registers.get(CR1) & (SPE | MSTR) == SPE | MSTR
    }

    fn transmit(&mut self, frame: u32, now: u64) {
        if self.clocks() && self.shifting.is_none() {
            self.start(frame, now);
        } else {
            self.holding = Some(frame);
            self.registers.set_bits(SR, TXE, false);
        }
    }

    fn write_control(&mut self, value: u32, now: u64) -> Result<(), Unmodelled> {
        let selects_by_pin =
            value & (SPE | MSTR | SSM) == SPE | MSTR && !self.registers.has(CR2, SSOE);
        if selects_by_pin || value & (SPE | MSTR | SSM | SSI) == SPE | MSTR | SSM {
            return Err(self.registers.refuse(CR1, "a master that NSS switches off"));
        }
        self.registers.set(CR1, value);
        if value & SPE == 0 {
            self.shifting = None;
            self.registers.set_bits(SR, BSY, false);
            self.wires.erase(SCK | MOSI | MISO);
        }
        if self.shifting.is_none() {
            self.rest(now);
            let clocks = self.clocks();
            if let Some(frame) = self.holding.take_if(|_| clocks) {
                self.start(frame, now);
            }
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
            DR => self.transmit(value, now),
            SR => {}
            _ => {
                self.registers.set(offset, value);
                self.rest(now);
            }
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.registers.reset();
        self.shifting = None;
        self.holding = None;
        self.data_read = false;
        self.wires.erase(!0);
    }

    fn next_event(&self) -> Option<u64> {
        self.shifting.map(|frame| frame.end)
    }

    fn advance(&mut self, now: u64) {
        while let Some(frame) = self.shifting.filter(|frame| frame.end <= now) {
            self.shifting = None;
            self.hear(frame.sent, self.places().len() - 1, frame.end);
            self.received(frame.received);
            match self.holding.take() {
                Some(next) => self.start(next, frame.end),
                None => self.registers.set_bits(SR, BSY, false),
            }
        }
    }

    fn read_has_effect(&self, offset: u32) -> bool {
        matches!(offset, DR | SR)
    }

    fn interrupts(&self) -> u32 {
        let (enables, status) = (self.registers.get(CR2), self.registers.get(SR));
        let raises = |enable, flag| enables & enable != 0 && status & flag != 0;
        u32::from(raises(TXEIE, TXE) || raises(RXNEIE, RXNE) || raises(ERRIE, OVR))
    }

    fn set_clocks(&mut self, clocks: &Supply, now: u64) {
        self.divider = clocks.bus;
        self.wires.set_clock(clocks.core, now);
    }

    fn wires(&self) -> Option<&Wires> {
        Some(&self.wires)
    }

    fn wires_mut(&mut self) -> Option<&mut Wires> {
        Some(&mut self.wires)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peripherals::tests::*;

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
        spi.follow([
            Write(DR, 0x55, 100),
            Read(SR, TXE | BSY, 163),
            Read(SR, TXE | RXNE, 164),
            Read(DR, 0xFF, 165),
            Read(SR, TXE, 166),
        ]);
        // 16 bits of PCLK / 2 take 32 cycles.
        let mut spi = started(ON | DFF);
        spi.follow([Write(DR, 0x55, 0), Event(Some(32)), Read(DR, 0xFFFF, 32)]);
    }

    #[test]
    fn two_frames_follow_each_other_and_an_unread_one_overruns() {
        let mut spi = started(ON);
        spi.follow([
            Write(DR, 1, 0),
            Write(DR, 2, 1),
            Read(SR, BSY, 15),
            Read(SR, TXE | BSY | RXNE, 16),
            Read(SR, TXE | RXNE | OVR, 32),
        ]);
        // DR, then SR clear OVR.
        spi.read(DR, 33);
        spi.follow([Read(SR, TXE | OVR, 33), Read(SR, TXE, 34)]);
    }

    #[test]
    fn interrupts_follow_their_enables() {
        let mut spi = started(ON);
        spi.follow([
            Interrupts(0),
            Write(CR2, TXEIE, 0),
            Interrupts(1),
            Write(CR2, RXNEIE, 0),
            Write(DR, 1, 0),
            Interrupts(0),
            Advance(16),
            Interrupts(1),
        ]);
    }

    #[test]
    fn a_slave_gets_no_clock() {
        let mut spi = started(SPE | SSM);
        spi.follow([Write(DR, 1, 0), Read(SR, 0, 1_000_000)]);
        assert!(started(0).write(CR1, SPE | MSTR, 0).is_err());
    }
}
