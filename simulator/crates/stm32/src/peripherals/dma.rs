//! DMA controller (RM0368 §9.5): eight streams in direct mode, between a peripheral and memory.
//!
//! The SoC raises requests and moves the items. A request is served in the cycle in which it is raised:
//! arbitration and the bus matrix are not modelled.

use super::registers::{rows, Register, Registers, Unmodelled};
use super::Peripheral;
use cortex_m::bus::Width;
use serde::{Deserialize, Serialize};

const LISR: u32 = 0x00;
const HISR: u32 = 0x04;
const LIFCR: u32 = 0x08;
const HIFCR: u32 = 0x0C;
const FIRST_STREAM: u32 = 0x10;
const STREAM_BYTES: u32 = 0x18;
pub const STREAMS: usize = 8;

const CR: u32 = 0x00;
const NDTR: u32 = 0x04;
const PAR: u32 = 0x08;
const M0AR: u32 = 0x0C;
const FCR: u32 = 0x14;

const EN: u32 = 1 << 0;
const TEIE: u32 = 1 << 2;
const HTIE: u32 = 1 << 3;
const TCIE: u32 = 1 << 4;
/// DMEIE too, although no direct mode error can happen when requests are served at once.
const ENABLES: u32 = 0b1111 << 1;
const DIR_SHIFT: u32 = 6;
const CIRC: u32 = 1 << 8;
const PINC: u32 = 1 << 9;
const MINC: u32 = 1 << 10;
const PSIZE_SHIFT: u32 = 11;
const CHSEL_SHIFT: u32 = 25;
/// DIR, CIRC, PINC, MINC, PSIZE, MSIZE (equal to PSIZE in direct mode), PL, CHSEL.
const CONFIGURATION: u32 = 0b11 << DIR_SHIFT
    | CIRC
    | PINC
    | MINC
    | 0b1111 << PSIZE_SHIFT
    | 0b11 << 16
    | 0b111 << CHSEL_SHIFT;
/// PFCTRL, PINCOS, DBM, CT, PBURST, MBURST.
const CR_MISSING: u32 = 1 << 5 | 1 << 15 | 0b11 << 18 | 0b1111 << 21;
/// FTH, DMDIS, FEIE: the FIFO.
const FCR_MISSING: u32 = 0b1000_0111;

/// A stream's flags in LISR and HISR, before shifting (§9.5.1).
const TEIF: u32 = 1 << 3;
const HTIF: u32 = 1 << 4;
const TCIF: u32 = 1 << 5;
const FLAG_SHIFTS: [u32; 4] = [0, 6, 16, 22];
const STATUS_BITS: u32 = 0x0F7D_0F7D;

macro_rules! table {
    ($($number:literal),*) => {
        rows! {
            LISR, "LISR", 0, 0, inert STATUS_BITS;
            HISR, "HISR", 0, 0, inert STATUS_BITS;
            LIFCR, "LIFCR", 0, STATUS_BITS;
            HIFCR, "HIFCR", 0, STATUS_BITS;
            $(
                register($number, CR), concat!("S", $number, "CR"), 0, EN | ENABLES | CONFIGURATION, missing CR_MISSING;
                register($number, NDTR), concat!("S", $number, "NDTR"), 0, 0xFFFF;
                register($number, PAR), concat!("S", $number, "PAR"), 0, !0;
                register($number, M0AR), concat!("S", $number, "M0AR"), 0, !0;
                // Without DBM it has no effect.
                register($number, 0x10), concat!("S", $number, "M1AR"), 0, !0;
                register($number, FCR), concat!("S", $number, "FCR"), 0x21, 0, inert 0b111 << 3, missing FCR_MISSING;
            )*
        }
    };
}

const fn register(stream: u32, offset: u32) -> u32 {
    FIRST_STREAM + stream * STREAM_BYTES + offset
}

static TABLE: [Register; 4 + 6 * STREAMS] = table!(0, 1, 2, 3, 4, 5, 6, 7);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    ToMemory,
    ToPeripheral,
}

/// One item to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub direction: Direction,
    pub peripheral: u32,
    pub memory: u32,
    pub width: Width,
}

/// How many items of a stream are left, and where the next one comes from and goes to (§9.3.7–9.3.9).
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Stream {
    /// Items of the block: NDTR when the stream was enabled.
    items: u32,
    moved: u32,
}

impl Stream {
    fn new(items: u32) -> Stream {
        Stream { items, moved: 0 }
    }

    fn remaining(&self) -> u32 {
        self.items.saturating_sub(self.moved)
    }

    fn restart(&mut self) {
        self.moved = 0;
    }

    /// Counts an item. True if half of the block has been moved.
    fn count_item(&mut self) -> bool {
        self.moved += 1;
        self.remaining() == self.items / 2
    }

    fn transfer(&self, control: u32, peripheral: u32, memory: u32) -> Transfer {
        let width = match control >> PSIZE_SHIFT & 0b11 {
            0 => Width::Byte,
            1 => Width::Half,
            _ => Width::Word,
        };
        let distance = self.moved.wrapping_mul(width.bytes());
        let advance =
            |base: u32, increments: bool| base.wrapping_add(if increments { distance } else { 0 });
        Transfer {
            direction: match control >> DIR_SHIFT & 0b11 {
                0 => Direction::ToMemory,
                _ => Direction::ToPeripheral,
            },
            peripheral: advance(peripheral, control & PINC != 0),
            memory: advance(memory, control & MINC != 0),
            width,
        }
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Dma {
    registers: Registers,
    /// Interrupt number of each stream.
    pub irqs: [u16; STREAMS],
    streams: [Stream; STREAMS],
}

impl Dma {
    /// `irqs` are the interrupt lines of its streams.
    pub fn new(name: &'static str, irqs: [u16; STREAMS]) -> Dma {
        Dma {
            registers: Registers::new(name, &TABLE),
            irqs,
            streams: [Stream::default(); STREAMS],
        }
    }

    /// The stream whose control register is at `offset`. `None` if another register is.
    pub fn stream_of_control(offset: u32) -> Option<usize> {
        let from_first = offset.checked_sub(FIRST_STREAM)?;
        (from_first % STREAM_BYTES == CR).then_some((from_first / STREAM_BYTES) as usize)
    }

    /// The channel of an enabled stream. `None` if the stream is disabled.
    pub fn channel(&self, stream: usize) -> Option<u32> {
        let control = self.control(stream);
        (control & EN != 0).then_some(control >> CHSEL_SHIFT & 0b111)
    }

    /// Where the next item comes from and goes to.
    pub fn transfer(&self, stream: usize) -> Transfer {
        self.streams[stream].transfer(
            self.control(stream),
            self.stream_register(stream, PAR),
            self.stream_register(stream, M0AR),
        )
    }

    /// Call after an item has been moved. True if the block is complete.
    pub fn moved(&mut self, stream: usize) -> bool {
        let half = self.streams[stream].count_item();
        if half {
            self.raise(stream, HTIF);
        }
        let complete = self.streams[stream].remaining() == 0;
        if complete {
            self.raise(stream, TCIF);
            if self.control(stream) & CIRC != 0 {
                self.streams[stream].restart();
            } else {
                self.clear_enable(stream);
            }
        }
        self.show_remaining(stream);
        complete
    }

    /// The bus refused an item, so the stream is disabled (§9.3.16).
    pub fn failed(&mut self, stream: usize) {
        self.raise(stream, TEIF);
        self.clear_enable(stream);
    }

    pub fn interrupt(&self, stream: usize) -> bool {
        let (status, shift) = Self::status_place(stream);
        let flags = self.registers.get(status) >> shift;
        // Each flag stands one bit above its enable.
        flags >> 1 & self.control(stream) & (TEIE | HTIE | TCIE) != 0
    }

    /// An error that names a stream's control register.
    pub fn refuse(&self, stream: usize, why: &str) -> Unmodelled {
        self.registers.refuse(register(stream as u32, CR), why)
    }

    fn status_place(stream: usize) -> (u32, u32) {
        (
            if stream < 4 { LISR } else { HISR },
            FLAG_SHIFTS[stream % 4],
        )
    }

    fn raise(&mut self, stream: usize, flag: u32) {
        let (status, shift) = Self::status_place(stream);
        self.registers.set_bits(status, flag << shift, true);
    }

    fn stream_register(&self, stream: usize, offset: u32) -> u32 {
        self.registers.get(register(stream as u32, offset))
    }

    fn control(&self, stream: usize) -> u32 {
        self.stream_register(stream, CR)
    }

    fn clear_enable(&mut self, stream: usize) {
        self.registers
            .set_bits(register(stream as u32, CR), EN, false);
    }

    fn show_remaining(&mut self, stream: usize) {
        let remaining = self.streams[stream].remaining();
        self.registers.set(register(stream as u32, NDTR), remaining);
    }

    fn write_control(&mut self, stream: usize, value: u32) -> Result<(), Unmodelled> {
        let present = self.control(stream);
        let place = register(stream as u32, CR);
        if present & EN != 0 {
            // §9.5.5: the configuration is protected while the stream is enabled.
            let kept = present & CONFIGURATION;
            self.registers.set(place, kept | value & (EN | ENABLES));
            if value & EN == 0 {
                // §9.3.15: TCIF tells that the transfer has ended.
                self.raise(stream, TCIF);
            }
            return Ok(());
        }
        if value & EN != 0 {
            self.start(stream, value)?;
        }
        self.registers.set(place, value);
        Ok(())
    }

    fn start(&mut self, stream: usize, control: u32) -> Result<(), Unmodelled> {
        let refuse = |why| Err(self.refuse(stream, why));
        if control >> DIR_SHIFT & 0b11 > 1 {
            return refuse("memory to memory");
        }
        if control >> PSIZE_SHIFT & 0b11 == 3 {
            return refuse("PSIZE is a reserved value");
        }
        let items = self.stream_register(stream, NDTR);
        if items == 0 {
            return refuse("enabled with nothing to transfer");
        }
        self.streams[stream] = Stream::new(items);
        Ok(())
    }

    fn write_stream(&mut self, offset: u32, value: u32) -> Result<(), Unmodelled> {
        let stream = ((offset - FIRST_STREAM) / STREAM_BYTES) as usize;
        if offset == register(stream as u32, CR) {
            return self.write_control(stream, value);
        }
        // §9.5.6–9.5.8: writable while the stream is disabled.
        if self.channel(stream).is_none() {
            self.registers.set(offset, value);
        }
        Ok(())
    }
}

impl Peripheral for Dma {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn write(&mut self, offset: u32, value: u32, _now: u64) -> Result<(), Unmodelled> {
        match offset {
            LIFCR => self.registers.set_bits(LISR, value, false),
            HIFCR => self.registers.set_bits(HISR, value, false),
            LISR | HISR => {}
            _ => self.write_stream(offset, value)?,
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.registers.reset();
        self.streams = [Stream::default(); STREAMS];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peripherals::tests::*;
    use cortex_m::bus::Width;

    /// The flags of one stream in LIFCR or HIFCR.
    const fn all_flags(stream: usize) -> u32 {
        0b11_1101 << FLAG_SHIFTS[stream % 4]
    }

    const STREAM: usize = 5;
    const AT: u32 = FIRST_STREAM + 5 * STREAM_BYTES;
    const CHANNEL_4: u32 = 4 << CHSEL_SHIFT;

    fn started(items: u32, control: u32) -> Dma {
        let mut dma = Dma::new("DMA1", [11, 12, 13, 14, 15, 16, 17, 47]);
        for (offset, value) in [
            (NDTR, items),
            (PAR, 0x4000_4404),
            (M0AR, 0x2000_0100),
            (CR, CHANNEL_4 | control | EN),
        ] {
            dma.write(AT + offset, value, 0).unwrap();
        }
        dma
    }

    #[test]
    fn flags_stand_where_the_manual_has_them() {
        assert_eq!(all_flags(STREAM), 0x0000_0F40);
        let all = (0..4).fold(0, |bits, stream| bits | all_flags(stream));
        assert_eq!(all, STATUS_BITS);
    }

    #[test]
    fn half_and_complete_are_told_and_the_stream_disables_itself() {
        let mut dma = started(4, MINC | HTIE | TCIE);
        assert_eq!(dma.channel(STREAM), Some(4));
        assert!(!dma.moved(STREAM) && !dma.interrupt(STREAM));
        assert!(!dma.moved(STREAM) && dma.interrupt(STREAM));
        dma.follow([
            Read(HISR, HTIF << 6, 0),
            Read(AT + NDTR, 2, 0),
            Write(HIFCR, all_flags(STREAM), 0),
        ]);
        assert!(!dma.interrupt(STREAM));
        assert!(!dma.moved(STREAM) && dma.moved(STREAM));
        dma.follow([Read(HISR, TCIF << 6, 0), Bits(AT + CR, EN, 0, 0)]);
        assert_eq!(dma.channel(STREAM), None);
    }

    #[test]
    fn addresses_advance_where_they_are_told_to() {
        let mut dma = started(3, MINC | 1 << DIR_SHIFT | 1 << PSIZE_SHIFT);
        dma.moved(STREAM);
        let transfer = dma.transfer(STREAM);
        assert_eq!(transfer.direction, Direction::ToPeripheral);
        assert_eq!(transfer.width, Width::Half);
        assert_eq!(
            (transfer.peripheral, transfer.memory),
            (0x4000_4404, 0x2000_0102)
        );
    }

    #[test]
    fn a_circular_stream_starts_again() {
        let mut dma = started(2, MINC | CIRC);
        assert!(!dma.moved(STREAM) && dma.moved(STREAM));
        assert_eq!(dma.read(AT + NDTR, 0), 2);
        assert_eq!(dma.transfer(STREAM).memory, 0x2000_0100);
        assert_eq!(dma.channel(STREAM), Some(4));
    }

    #[test]
    fn configuration_is_protected_and_disabling_ends_the_transfer() {
        let mut dma = started(4, MINC);
        dma.follow([
            Write(AT + PAR, 0, 0),
            Read(AT + PAR, 0x4000_4404, 0),
            Write(AT + CR, EN | TCIE, 0),
            Read(AT + CR, CHANNEL_4 | MINC | EN | TCIE, 0),
            Write(AT + CR, TCIE, 0),
        ]);
        assert!(dma.interrupt(STREAM) && dma.channel(STREAM).is_none());
    }

    #[test]
    fn what_the_model_has_not_is_refused_by_name() {
        let mut dma = Dma::new("DMA1", [0; STREAMS]);
        dma.write(AT + NDTR, 1, 0).unwrap();
        let refusal = dma.write(AT + CR, 2 << DIR_SHIFT | EN, 0).unwrap_err();
        assert_eq!(refusal.0, "DMA1_S5CR (memory to memory)");
        dma.failed(STREAM);
        assert_eq!(dma.read(HISR, 0), TEIF << 6);
    }
}
