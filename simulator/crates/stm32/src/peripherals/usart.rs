//! USART (RM0368 §19.6, and that of the newer lines: RM0351 §38.8, RM0091 §27.8), asynchronous: 8 bits with or without a parity bit, or 7 bits with one.
//!
//! A byte is sent when its last stop bit has left the pin. Pins show the waveform where a partner is
//! attached.

use super::registers::{merged, registers, rows, Register, Registers, Unmodelled};
use super::{Fast, Peripheral, Supply};
use crate::partners::wires::{Wired, Wires, RX, TX};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

const ORE: u32 = 1 << 3;
const IDLE: u32 = 1 << 4;
const RXNE: u32 = 1 << 5;
const TC: u32 = 1 << 6;
const TXE: u32 = 1 << 7;

const RE: u32 = 1 << 2;
const TE: u32 = 1 << 3;
const IDLEIE: u32 = 1 << 4;
const RXNEIE: u32 = 1 << 5;
const TCIE: u32 = 1 << 6;
const TXEIE: u32 = 1 << 7;
const PEIE: u32 = 1 << 8;
const PS: u32 = 1 << 9;
const PCE: u32 = 1 << 10;
const M: u32 = 1 << 12;
const UE: u32 = 1 << 13;
const OVER8: u32 = 1 << 15;
const STOP_SHIFT: u32 = 12;
/// Flags whose enables have the same positions in CR1.
const SAME_PLACE: u32 = TXEIE | TCIE | RXNEIE | IDLEIE;
/// Parity errors do not occur, so PEIE has no effect.
const CR1_BITS: u32 = RE | TE | IDLEIE | RXNEIE | TCIE | TXEIE | PEIE | PS | PCE | M | UE | OVER8;
const EIE: u32 = 1 << 0;
const DMAR: u32 = 1 << 6;
const DMAT: u32 = 1 << 7;
/// ONEBIT chooses a sampling method. Without noise it makes no difference.
const CR3_BITS: u32 = EIE | DMAR | DMAT | 1 << 11;

registers! {
    TABLE:
    SR = 0x00, TXE | TC, TC | RXNE, inert !(TC | RXNE);
    pub DR = 0x04, 0, 0x1FF;
    BRR = 0x08, 0, 0xFFFF;
    // Not modelled: SBK, RWU, WAKE.
    CR1 = 0x0C, 0, CR1_BITS, missing 0b11 | 1 << 11;
    // Not modelled: in CR2 LIN, the synchronous clock and the address; in CR3 IrDA, half duplex,
    // smartcard and flow control.
    CR2 = 0x10, 0, 0b11 << STOP_SHIFT, missing 0x4F6F;
    CR3 = 0x14, 0, CR3_BITS, missing 0x073E;
    GTPR = 0x18, 0, 0, absent;
}

/// The registers of the STM32L4 and the STM32F0 (RM0351 §38.8).
const ISR: u32 = 0x1C;
const ICR: u32 = 0x20;
const RQR: u32 = 0x18;
const UE_V2: u32 = 1 << 0;
const RXFRQ: u32 = 1 << 3;
const TEACK: u32 = 1 << 21;
const REACK: u32 = 1 << 22;
const CR1_BITS_V2: u32 = CR1_BITS & !UE | UE_V2;

static TABLE_V2: &[Register] = &rows! {
    // Not modelled: WAKE, MME and what else a receiver of addresses has; DE; 7 and 9 bits by M1.
    0x00, "CR1", 0, CR1_BITS_V2, missing 0x1FFF_FFFF & !CR1_BITS_V2;
    // Not modelled: LIN, the synchronous clock, the address, swapped and inverted pins, auto-baud.
    0x04, "CR2", 0, 0b11 << STOP_SHIFT, missing 0xFFFF_CF70;
    // Not modelled: IrDA, half duplex, smartcard, flow control, DE, DMA, no overrun.
    0x08, "CR3", 0, EIE | 1 << 11, missing 0x007E_F7FE;
    0x0C, "BRR", 0, 0xFFFF;
    0x10, "GTPR", 0, 0, absent;
    0x14, "RTOR", 0, 0, absent;
    RQR, "RQR", 0, RXFRQ, missing 0b1_0111;
    ISR, "ISR", TXE | TC, 0, inert !0;
    ICR, "ICR", 0, ORE | IDLE | TC, inert !(ORE | IDLE | TC);
    0x24, "RDR", 0, 0, inert !0;
    0x28, "TDR", 0, 0x1FF;
};

/// RM0444 §33.8, RM0440 §37.8: with FIFOs, which are not modelled, and a prescaler.
static TABLE_FIFO: [Register; 12] = {
    let rows = rows! {
        0x00, "CR1", 0, CR1_BITS_V2, missing !CR1_BITS_V2;
        0x2C, "PRESC", 0, 0, absent;
    };
    merged(TABLE_V2, &rows)
};

/// Which registers it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Version {
    /// One data register.
    V1,
    /// RDR and TDR, and ISR with ICR.
    V2,
}

/// What tells the USARTs of one line from those of another.
pub struct UsartFacts {
    pub version: Version,
    pub table: &'static [Register],
}

pub const V1: UsartFacts = UsartFacts {
    version: Version::V1,
    table: TABLE,
};
pub const V2: UsartFacts = UsartFacts {
    version: Version::V2,
    table: TABLE_V2,
};
pub const WITH_FIFOS: UsartFacts = UsartFacts {
    version: Version::V2,
    table: &TABLE_FIFO,
};

/// Where a version has its registers.
struct Places {
    status: u32,
    receive: u32,
    send: u32,
    brr: u32,
    cr1: u32,
    cr2: u32,
    cr3: u32,
    /// UE, in CR1.
    enable: u32,
}

static PLACES_V1: Places = Places {
    status: SR,
    receive: DR,
    send: DR,
    brr: BRR,
    cr1: CR1,
    cr2: CR2,
    cr3: CR3,
    enable: UE,
};

static PLACES_V2: Places = Places {
    status: ISR,
    receive: 0x24,
    send: 0x28,
    brr: 0x0C,
    cr1: 0x00,
    cr2: 0x04,
    cr3: 0x08,
    enable: UE_V2,
};

/// A frame in the transmit shift register. The idle frame that TE sends has no byte.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Frame {
    byte: Option<u8>,
    end: u64,
}

/// The USARTs of the line, in the order of their index. Not every chip has all. UARTs lack the
/// synchronous mode, which no model has.
pub const MODELS: [&str; 6] = ["USART1", "USART2", "USART3", "UART4", "UART5", "USART6"];

/// The place of USART2 in [`MODELS`], the Nucleo's way to the host.
pub const USART2: usize = 1;

#[derive(Clone, Serialize, Deserialize)]
pub struct Usart {
    version: Version,
    registers: Registers,
    /// Interrupt number.
    pub irq: u16,
    /// Core cycles per PCLK; `None` while RCC gates the clock.
    divider: Option<u64>,
    shifting: Option<Frame>,
    holding: Option<u8>,
    /// SR was read since the last access to DR: the first half of the sequences that clear flags
    /// (§19.6.1).
    status_read: bool,
    /// Bytes whose frames have ended.
    pub sent: Vec<u8>,
    /// Bytes that have not arrived yet.
    pub arriving: VecDeque<u8>,
    arrival_end: Option<u64>,
    /// The cycle in which the line will have been idle for a frame and IDLE is set. `None` if it
    /// will not be set.
    idle_at: Option<u64>,
    received: u32,
    pub wires: Wires,
}

impl Usart {
    /// `name` is one of [`MODELS`], and `irq` its interrupt line.
    pub fn new(facts: &UsartFacts, name: &'static str, irq: u16) -> Usart {
        Usart {
            version: facts.version,
            registers: Registers::new(name, facts.table),
            irq,
            divider: None,
            shifting: None,
            holding: None,
            status_read: false,
            sent: Vec::new(),
            arriving: VecDeque::new(),
            arrival_end: None,
            idle_at: None,
            received: 0,
            wires: Wires::default(),
        }
    }

    /// The status register, and that of bytes to send. Its wires, if it has any, must know of these.
    pub fn fast(&self) -> Fast {
        let written = self.at().send;
        Fast {
            polled: self.at().status,
            written: if self.wires.is_occupied() {
                Fast::NONE.written
            } else {
                written
            },
        }
    }

    #[inline(always)]
    fn at(&self) -> &'static Places {
        match self.version {
            Version::V1 => &PLACES_V1,
            Version::V2 => &PLACES_V2,
        }
    }

    #[inline(always)]
    fn status(&self) -> u32 {
        self.registers.get(self.at().status)
    }

    #[inline(always)]
    fn set_status(&mut self, flags: u32, on: bool) {
        self.registers.set_bits(self.at().status, flags, on);
    }

    /// CR1.
    #[inline(always)]
    fn control(&self) -> u32 {
        self.registers.get(self.at().cr1)
    }

    pub fn interrupt(&self) -> bool {
        let status = self.status();
        let enabled = self.control();
        let control_3 = self.registers.get(self.at().cr3);
        let overrun = enabled & RXNEIE != 0 || control_3 & (EIE | DMAR) == EIE | DMAR;
        enabled & status & SAME_PLACE != 0 || overrun && status & ORE != 0
    }

    #[inline(always)]
    fn pass_events(&mut self, now: u64) {
        while let Some(frame) = self.shifting.filter(|frame| frame.end <= now) {
            self.shifted_out(frame);
        }
        while let Some(end) = self.arrival_end.filter(|end| *end <= now) {
            self.arrived(end);
        }
        if self.idle_at.is_some_and(|cycle| cycle <= now) {
            self.idle_at = None;
            self.set_status(IDLE, true);
        }
    }

    /// Whether interrupts or DMA requests are enabled.
    pub fn may_signal(&self) -> bool {
        self.control() & SAME_PLACE != 0 || self.registers.has(self.at().cr3, EIE | DMAR | DMAT)
    }

    /// Whether DMA requests are enabled.
    pub fn uses_dma(&self) -> bool {
        self.registers.has(self.at().cr3, DMAT | DMAR)
    }

    /// Whether there is a DMA request (§19.3.13), for a byte to send or one that was received.
    pub fn requests_dma(&self, sends: bool) -> bool {
        let (enable, flag) = if sends { (DMAT, TXE) } else { (DMAR, RXNE) };
        self.divider.is_some()
            && self.registers.has(self.at().cr3, enable)
            && self.status() & flag != 0
    }

    /// Bytes that start to arrive on RX at cycle `now`, back to back.
    pub fn receive(&mut self, bytes: &[u8], now: u64) {
        self.arriving.extend(bytes);
        self.start_arrival(now);
    }

    fn enabled(&self, bit: u32) -> bool {
        self.divider.is_some()
            && self.control() & (self.at().enable | bit) == self.at().enable | bit
    }

    /// Core cycles of one bit; `None` while it does not send. BRR holds the PCLK cycles of a bit,
    /// with three fraction bits instead of four when oversampling by 8 (§19.3.4).
    pub fn bit_cycles(&self) -> Option<u64> {
        self.enabled(TE)
            .then(|| self.bit_clocks() * self.divider.unwrap_or(1))
    }

    fn bit_clocks(&self) -> u64 {
        let brr = u64::from(self.registers.get(self.at().brr));
        if self.control() & OVER8 != 0 {
            (brr >> 4) * 8 + (brr & 0b111)
        } else {
            brr
        }
    }

    /// Core cycles of one frame: start bit, 8 or 9 bits with parity, stop bits.
    fn frame_cycles(&self) -> u64 {
        let bit_clocks = self.bit_clocks();
        let stop_bits = if self.registers.get(self.at().cr2) >> STOP_SHIFT & 0b11 == 0b10 {
            2
        } else {
            1
        };
        bit_clocks * (1 + self.word_bits() + stop_bits) * self.divider.unwrap_or(1)
    }

    fn word_bits(&self) -> u64 {
        if self.control() & M != 0 {
            9
        } else {
            8
        }
    }

    /// §19.3.2: a start bit, the lowest bit first, and what follows it is high.
    fn draw(&mut self, byte: u8, wire: Wired, start: u64) {
        let bit_cycles = self.bit_clocks() * self.divider.unwrap_or(1);
        let bits = 1 + self.word_bits();
        let frame = self.with_parity(byte) << 1 | 1 << bits;
        for bit in 0..=bits {
            let level = if frame >> bit & 1 != 0 { wire } else { 0 };
            self.wires.draw(start + bit * bit_cycles, wire, level);
        }
    }

    fn shifted_out(&mut self, frame: Frame) {
        self.sent.extend(frame.byte);
        if let Some(byte) = frame.byte {
            self.wires.hear(byte, TX, frame.end);
        }
        self.shifting = None;
        match self.holding.take() {
            Some(byte) => self.start_frame(Some(byte), frame.end),
            None => self.set_status(TC, true),
        }
    }

    fn start_frame(&mut self, byte: Option<u8>, start: u64) {
        self.shifting = Some(Frame {
            byte,
            end: start + self.frame_cycles(),
        });
        if let Some(byte) = byte.filter(|_| self.wires.is_occupied()) {
            self.draw(byte, TX, start);
        }
        self.set_status(TXE, true);
    }

    /// A write to DR. All events up to `now` must have been handled.
    pub fn transmit(&mut self, byte: u8, now: u64) {
        if self.status_read || self.version == Version::V2 {
            self.set_status(TC, false);
        }
        self.status_read = false;
        let byte = byte & self.data_mask();
        if self.enabled(TE) && self.shifting.is_none() {
            self.start_frame(Some(byte), now);
        } else {
            self.holding = Some(byte);
            self.set_status(TXE, false);
        }
    }

    /// A frame of 8 bits holds 7 bits of data and one of parity (§19.3.7).
    fn data_mask(&self) -> u8 {
        match self.control() & (M | PCE) {
            PCE => 0x7F,
            _ => 0xFF,
        }
    }

    /// What DR reads for a byte. With parity, the parity bit comes above the data (§19.6.2).
    fn with_parity(&self, byte: u8) -> u32 {
        let control = self.control();
        let data = byte & self.data_mask();
        if control & PCE == 0 {
            return data.into();
        }
        let odd_ones = data.count_ones() % 2 != 0;
        let parity = odd_ones != (control & PS != 0);
        let place = if control & M != 0 { 8 } else { 7 };
        u32::from(data) | u32::from(parity) << place
    }

    fn start_arrival(&mut self, start: u64) {
        if self.arrival_end.is_none() && !self.arriving.is_empty() && self.enabled(RE) {
            self.arrival_end = Some(start + self.frame_cycles());
            if let Some(byte) = self.arriving.front().filter(|_| self.wires.is_occupied()) {
                self.draw(*byte, RX, start);
            }
            self.idle_at = None;
        }
    }

    fn arrived(&mut self, end: u64) {
        self.arrival_end = None;
        let byte = self.arriving.pop_front();
        if self.status() & RXNE != 0 {
            self.set_status(ORE, true);
        } else if let Some(byte) = byte {
            self.received = self.with_parity(byte);
            self.set_status(RXNE, true);
        }
        self.idle_at = Some(end + self.frame_cycles());
        self.start_arrival(end);
    }

    /// A read of SR. All events up to now must have been handled.
    #[inline(always)]
    pub fn read_status(&mut self) -> u32 {
        self.status_read = true;
        self.status()
    }

    fn read_data(&mut self) -> u32 {
        self.set_status(RXNE, false);
        if self.status_read && self.version == Version::V1 {
            self.set_status(ORE | IDLE, false);
        }
        self.status_read = false;
        self.received
    }

    fn write_control(&mut self, value: u32, now: u64) -> Result<(), Unmodelled> {
        if value & (M | PCE) == M {
            return Err(self.registers.refuse(self.at().cr1, "9 data bits"));
        }
        let was_on = self.enabled(TE);
        self.registers.set(self.at().cr1, value);
        if value & self.at().enable != 0 && self.registers.get(self.at().brr) < 16 {
            return Err(self
                .registers
                .refuse(self.at().brr, "enabled with a divider below one"));
        }
        let on = self.enabled(TE);
        if on && !was_on {
            // §19.3.2: TE sends an idle frame first.
            self.set_status(TC, false);
            self.start_frame(None, now);
            self.set_status(TXE, self.holding.is_none());
        }
        if value & self.at().enable == 0 {
            self.shifting = None;
            self.arrival_end = None;
            self.idle_at = None;
            self.wires.erase(TX | RX);
        }
        if self.version == Version::V2 {
            let flags = [(TE, TEACK), (RE, REACK)];
            for (bit, flag) in flags {
                let on = self.enabled(bit);
                self.registers.set_bits(ISR, flag, on);
            }
        }
        self.start_arrival(now);
        Ok(())
    }

    /// RM0351 §38.8.7, §38.8.9: flags are cleared, and a byte that was received is thrown away.
    fn write_v2(&mut self, offset: u32, value: u32) {
        match offset {
            ICR => self
                .registers
                .set_bits(ISR, value & (ORE | IDLE | TC), false),
            RQR if value & RXFRQ != 0 => self.registers.set_bits(ISR, RXNE, false),
            _ => {}
        }
    }
}

impl Peripheral for Usart {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn read(&mut self, offset: u32, now: u64) -> u32 {
        self.advance(now);
        match offset {
            _ if offset == self.at().status => self.read_status(),
            _ if offset == self.at().receive => self.read_data(),
            _ => self.registers.get(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, now: u64) -> Result<(), Unmodelled> {
        self.advance(now);
        let at = self.at();
        match offset {
            SR if self.version == Version::V1 => {
                let cleared = !value & (TC | RXNE);
                self.registers.set_bits(SR, cleared, false);
            }
            ICR | RQR if self.version == Version::V2 => self.write_v2(offset, value),
            _ if offset == at.send => self.transmit(value as u8, now),
            _ if offset == at.cr1 => self.write_control(value, now)?,
            _ if offset == at.cr2 && value >> STOP_SHIFT & 1 != 0 => {
                return Err(self.registers.refuse(self.at().cr2, "half a stop bit"));
            }
            _ => self.registers.set(offset, value),
        }
        Ok(())
    }

    fn reset(&mut self) {
        let (divider, arriving) = (self.divider, std::mem::take(&mut self.arriving));
        self.registers.reset();
        self.shifting = None;
        self.holding = None;
        self.status_read = false;
        self.arrival_end = None;
        self.idle_at = None;
        self.wires.erase(TX | RX);
        self.divider = divider;
        self.arriving = arriving;
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

    fn next_event(&self) -> Option<u64> {
        let cycle = self
            .shifting
            .map_or(u64::MAX, |frame| frame.end)
            .min(self.arrival_end.unwrap_or(u64::MAX))
            .min(self.idle_at.unwrap_or(u64::MAX));
        (cycle != u64::MAX).then_some(cycle)
    }

    fn advance(&mut self, now: u64) {
        let due = |cycle: u64| cycle <= now;
        if self.shifting.is_some_and(|frame| due(frame.end))
            || self.arrival_end.is_some_and(due)
            || self.idle_at.is_some_and(due)
        {
            self.pass_events(now);
        }
    }

    fn read_has_effect(&self, offset: u32) -> bool {
        offset == self.at().receive
    }

    fn interrupts(&self) -> u32 {
        u32::from(self.interrupt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peripherals::tests::*;

    fn of(facts: &UsartFacts, divider: u64) -> Usart {
        let mut usart = Usart::new(facts, "USART2", 38);
        usart.divider = Some(divider);
        usart
    }

    /// 42 MHz PCLK1 at half the core clock, BRR 42: 1,000,000 baud, 84 core cycles per bit, 840 per
    /// frame.
    fn started() -> Usart {
        let mut usart = of(&V1, 2);
        usart.write(BRR, 42, 0).unwrap();
        usart.write(CR1, UE | TE | RE, 0).unwrap();
        usart.advance(840);
        usart
    }

    fn sent(usart: &mut Usart) -> Vec<u8> {
        usart.sent.drain(..).collect()
    }

    #[test]
    fn frames_follow_each_other_without_a_gap() {
        let mut usart = started();
        usart.follow([
            Read(SR, TXE | TC, 1_000),
            Write(DR, 0x41, 1_000),
            Read(SR, TXE, 1_000),
            Write(DR, 0x42, 1_001),
            Read(SR, 0, 1_839),
            Read(SR, TXE, 1_840),
            Event(Some(2_680)),
            Read(SR, TXE | TC, 2_680),
        ]);
        assert_eq!(sent(&mut usart), b"AB");
    }

    #[test]
    fn tc_stays_when_the_status_was_not_read() {
        let mut usart = started();
        usart.follow([Write(DR, 0x41, 1_000), Read(SR, TXE | TC, 1_001)]);
    }

    #[test]
    fn enabling_sends_an_idle_frame_first() {
        let mut usart = of(&V1, 1);
        usart.follow([
            Write(BRR, 16, 0),
            Write(CR1, UE | TE, 0),
            Write(DR, 0x55, 10),
            Advance(319),
        ]);
        assert_eq!(sent(&mut usart), b"");
        usart.advance(320);
        assert_eq!(sent(&mut usart), b"U");
    }

    #[test]
    fn two_stop_bits_and_oversampling_by_8() {
        let mut usart = of(&V1, 1);
        usart.follow([
            // USARTDIV = 2 + 3/8: 19 clocks per bit.
            Write(BRR, 0x23, 0),
            Write(CR2, 0b10 << STOP_SHIFT, 0),
            Write(CR1, UE | TE | OVER8, 0),
            Event(Some(19 * 11)),
        ]);
    }

    #[test]
    fn reception_and_overrun() {
        let mut usart = started();
        usart.receive(b"xyz", 2_000);
        usart.follow([
            Bits(SR, RXNE, 0, 2_839),
            Bits(SR, RXNE, RXNE, 2_840),
            Read(DR, u32::from(b'x'), 2_840),
            Bits(SR, RXNE | ORE, RXNE | ORE, 4_520),
            Read(DR, u32::from(b'y'), 4_520),
            Bits(SR, RXNE | ORE, 0, 4_520),
        ]);
    }

    #[test]
    fn an_idle_line_is_told_one_frame_after_the_last_byte() {
        let mut usart = started();
        usart.write(CR1, UE | TE | RE | IDLEIE, 900).unwrap();
        usart.receive(b"xy", 1_000);
        usart.advance(1_840);
        usart.read(DR, 1_841);
        usart.follow([
            // The second byte ends at 2,680; a frame of idle line after it ends at 3,520.
            Bits(SR, IDLE, 0, 3_519),
            Event(Some(3_520)),
            Bits(SR, IDLE, IDLE, 3_520),
        ]);
        assert!(usart.interrupt());
        usart.read(DR, 3_521);
        usart.follow([Interrupts(0), Bits(SR, IDLE, 0, 100_000)]);
    }

    #[test]
    fn parity_takes_a_bit_of_the_frame() {
        let mut usart = started();
        usart.follow([
            // Seven bits and odd parity. 'a' (0x61) has three ones, so its parity bit is 0. 'c' has
            // four.
            Write(CR1, UE | TE | RE | PCE | PS, 900),
            Write(DR, 0xE1, 1_000),
        ]);
        usart.receive(b"ac", 1_000);
        usart.advance(1_840);
        assert_eq!(sent(&mut usart), b"a");
        usart.follow([
            Read(DR, 0x61, 1_840),
            Read(DR, 0x63 | 0x80, 2_680),
            // Eight bits and even parity: one bit more, 924 cycles.
            Write(CR1, UE | TE | RE | PCE | M, 4_000),
        ]);
        usart.receive(b"a", 4_000);
        usart.follow([Bits(SR, RXNE, 0, 4_923), Read(DR, 0x161, 4_924)]);
        assert!(usart.write(CR1, UE | M, 5_000).is_err());
    }

    #[test]
    fn requests_follow_their_enables_and_flags() {
        let mut usart = started();
        assert!(!usart.requests_dma(true));
        usart.write(CR3, DMAT | DMAR, 900).unwrap();
        assert!(usart.requests_dma(true) && !usart.requests_dma(false));
        usart.receive(b"x", 1_000);
        usart.advance(1_840);
        assert!(usart.requests_dma(false));
    }

    #[test]
    fn interrupts_follow_their_enables() {
        let mut usart = started();
        usart.follow([
            Interrupts(0),
            Write(CR1, UE | TE | RE | TXEIE, 900),
            Interrupts(1),
            Write(CR1, UE | TE | RE | RXNEIE, 900),
            Interrupts(0),
        ]);
        usart.receive(b"x", 1_000);
        usart.advance(1_840);
        assert!(usart.interrupt());
    }

    #[test]
    fn a_divider_below_one_is_refused() {
        let mut usart = Usart::new(&V1, "USART2", 38);
        usart.write(BRR, 15, 0).unwrap();
        assert!(usart.write(CR1, UE, 0).is_err());
    }

    /// RM0351 §38.8.8, §38.8.9: a write to TDR clears TC, ICR clears ORE, and RDR only RXNE.
    #[test]
    fn the_newer_version_clears_its_flags_by_icr() {
        let mut usart = of(&V2, 1);
        usart.follow([
            Write(0x0C, 80, 0),
            Write(0x00, UE_V2 | TE | RE, 0),
            Bits(ISR, TEACK | REACK, TEACK | REACK, 0),
            Advance(800),
            Write(0x28, 0x41, 1_000),
            Bits(ISR, TXE | TC, TXE, 1_001),
            Event(Some(1_800)),
            Bits(ISR, TXE | TC, TXE | TC, 1_800),
        ]);
        assert_eq!(sent(&mut usart), b"A");
        usart.receive(b"xy", 2_000);
        usart.follow([
            Bits(ISR, RXNE | ORE, RXNE | ORE, 3_600),
            Read(0x24, u32::from(b'x'), 3_600),
            Bits(ISR, RXNE | ORE, ORE, 3_600),
            Write(ICR, ORE, 3_600),
            Bits(ISR, RXNE | ORE, 0, 3_600),
        ]);
    }
}
