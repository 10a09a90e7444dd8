//! DMA requests, and the items that they move.

use super::Soc;
use crate::peripherals::dac;
use crate::peripherals::dma::{Direction, Transfer, STREAMS};
use crate::peripherals::registers::Unmodelled;
use crate::peripherals::usart::{DR, USART2};
use cortex_m::bus::{Fault, Width};

/// The data register of USART2, to and from which DMA moves bytes.
const USART2_DR: u32 = 0x4000_4400 + DR;
const DAC_BASE: u32 = 0x4000_7400;

/// Who requests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Usart2Received,
    Usart2Sends,
    /// A channel of the DAC, which only the STM32F407 has.
    Dac(usize),
}

/// A request: its source, and the stream and channel of DMA1 that it reaches (RM0368 §9.3.3 table
/// 27, RM0090 §10.3.3 table 42).
struct Request {
    source: Source,
    stream: usize,
    channel: u32,
}

const fn request(source: Source, stream: usize, channel: u32) -> Request {
    Request {
        source,
        stream,
        channel,
    }
}

const REQUESTS: [Request; 4] = [
    request(Source::Usart2Received, 5, 4),
    request(Source::Usart2Sends, 6, 4),
    request(Source::Dac(0), 5, 7),
    request(Source::Dac(1), 6, 7),
];

impl Soc {
    /// Moves items until no stream has a request.
    #[inline]
    pub(super) fn serve_dma(&mut self, now: u64) {
        let dac = self.logic.dac.requests_dma(0) || self.logic.dac.requests_dma(1);
        if !self.logic.usarts[USART2].uses_dma() && !dac {
            return;
        }
        let mut requests = REQUESTS.iter();
        let requested = requests.any(|request| self.requested(request.source));
        if requested && !self.logic.serving_dma {
            self.move_items(now);
        }
    }

    fn requested(&self, source: Source) -> bool {
        match source {
            Source::Usart2Received => self.logic.usarts[USART2].requests_dma(false),
            Source::Usart2Sends => self.logic.usarts[USART2].requests_dma(true),
            Source::Dac(channel) => self.logic.dac.requests_dma(channel),
        }
    }

    fn move_items(&mut self, now: u64) {
        self.logic.serving_dma = true;
        let mut moved = false;
        for request in &REQUESTS {
            while self.requested(request.source)
                && self.logic.dma[0].channel(request.stream) == Some(request.channel)
            {
                self.move_item(request.stream, now);
                if let Source::Dac(channel) = request.source {
                    self.logic.dac.served(channel);
                }
                moved = true;
            }
        }
        self.logic.serving_dma = false;
        if moved {
            self.dma_changed();
        }
    }

    /// A stream may be enabled only if its request and its peripheral register are modelled.
    pub(super) fn check_stream(&self, controller: usize, stream: usize) -> Result<(), Unmodelled> {
        let dma = &self.logic.dma[controller];
        let Some(channel) = dma.channel(stream) else {
            return Ok(());
        };
        let known = REQUESTS
            .iter()
            .find(|request| request.stream == stream && request.channel == channel)
            .filter(|_| controller == 0);
        let Some(request) = known else {
            return Err(dma.refuse(stream, &format!("the request of channel {channel}")));
        };
        let transfer = dma.transfer(stream);
        if let Source::Dac(_) = request.source {
            return match dac::DATA.contains(&transfer.peripheral.wrapping_sub(DAC_BASE)) {
                true => Ok(()),
                false => Err(dma.refuse(stream, "anything but data of the DAC")),
            };
        }
        if transfer.peripheral != USART2_DR || transfer.width != Width::Byte {
            return Err(dma.refuse(stream, "anything but bytes at USART2_DR"));
        }
        Ok(())
    }

    fn move_item(&mut self, stream: usize, now: u64) {
        let transfer = self.logic.dma[0].transfer(stream);
        let moved = match transfer.direction {
            Direction::ToMemory => self.move_to_memory(transfer, now),
            Direction::ToPeripheral => self.move_to_peripheral(transfer, now),
        };
        if moved.is_err() {
            self.logic.dma[0].failed(stream);
        } else if self.logic.dma[0].moved(stream) && transfer.direction == Direction::ToMemory {
            // The block may contain code. The core is told only when the block is complete.
            self.logic.code_changed = true;
            self.logic.attention = true;
        }
    }

    fn move_to_memory(&mut self, transfer: Transfer, now: u64) -> Result<(), Fault> {
        let address = transfer.peripheral;
        let item = self
            .read_modelled(address, transfer.width, now)
            .ok_or(Fault::Bus { address })?;
        let address = transfer.memory;
        self.memory
            .write(address, transfer.width, item)
            .ok_or(Fault::Bus { address })
    }

    fn move_to_peripheral(&mut self, transfer: Transfer, now: u64) -> Result<(), Fault> {
        let address = transfer.memory;
        let item = self
            .memory
            .read(address, transfer.width)
            .ok_or(Fault::Bus { address })?;
        self.write_modelled(transfer.peripheral, transfer.width, item, now)
    }

    pub(super) fn dma_changed(&mut self) {
        for controller in 0..self.logic.dma.len() {
            for stream in 0..STREAMS {
                let irq = self.logic.dma[controller].irqs[stream];
                let level = self.logic.dma[controller].interrupt(stream);
                self.set_interrupt_line(irq, level);
            }
        }
    }

    /// Call after an access to a USART, which may raise or clear a request.
    pub(super) fn usart_accessed(&mut self, usart: usize, now: u64) {
        self.usart_changed(usart);
        if usart == USART2 {
            self.serve_dma(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use cortex_m::bus::Bus;

    const DMA1_S6: u32 = 0x4002_6000 + 0x10 + 6 * 0x18;

    fn soc() -> Soc {
        let mut soc = Soc::new(Memory::default());
        let clocks = [(0x4002_3830, 1 << 21), (0x4002_3840, 1 << 17)];
        for (register, bits) in clocks {
            soc.write(register, Width::Word, bits, 0).unwrap();
        }
        soc
    }

    fn enable(soc: &mut Soc, control: u32, peripheral: u32) -> Result<u32, Fault> {
        soc.write(DMA1_S6 + 4, Width::Word, 1, 0).unwrap();
        soc.write(DMA1_S6 + 8, Width::Word, peripheral, 0).unwrap();
        soc.write(DMA1_S6, Width::Word, control | 1 << 6 | 1, 0)
    }

    fn refusal(outcome: Result<u32, Fault>) -> String {
        match outcome {
            Err(Fault::Unmodelled { what, .. }) => what,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_request_that_is_not_modelled_stops_by_name() {
        let refused = enable(&mut soc(), 3 << 25, USART2_DR);
        assert_eq!(refusal(refused), "DMA1_S6CR (the request of channel 3)");
        let refused = enable(&mut soc(), 4 << 25, 0x4000_0024);
        assert_eq!(
            refusal(refused),
            "DMA1_S6CR (anything but bytes at USART2_DR)"
        );
        assert!(enable(&mut soc(), 4 << 25, USART2_DR).is_ok());
    }

    #[test]
    fn received_bytes_are_moved_as_they_arrive() {
        const DMA1_S5: u32 = 0x4002_6000 + 0x10 + 5 * 0x18;
        let mut soc = soc();
        soc.write(0x4002_3830, Width::Word, 1 | 1 << 21, 0).unwrap();
        let settings = [
            (0x4002_0020, 7 << 12),              // PA3: USART2_RX
            (0x4002_0000, 0xA800_0000 | 2 << 6), // alternate
            (DMA1_S5 + 0x4, 4),
            (DMA1_S5 + 0x8, USART2_DR),
            (DMA1_S5 + 0xC, 0x2000_0010),
            // Channel 4, MINC, CIRC, HTIE, TCIE, EN.
            (DMA1_S5, 4 << 25 | 1 << 10 | 1 << 8 | 1 << 4 | 1 << 3 | 1),
            (0x4000_4408, 16),
            (0x4000_4414, 1 << 6),           // DMAR
            (0x4000_440C, 1 << 13 | 1 << 2), // UE, RE
        ];
        for (address, value) in settings {
            soc.write(address, Width::Word, value, 0).unwrap();
        }
        soc.receive(b"abcdef", 0);
        let word = |soc: &mut Soc, address| soc.read(address, Width::Word, 0).unwrap().value;
        // A byte takes 160 cycles: 16 a bit.
        soc.catch_up(319);
        assert_eq!(word(&mut soc, 0x2000_0010), u32::from(b'a'));
        assert_eq!(soc.interrupt_lines(), 0);
        soc.catch_up(320);
        assert_eq!(soc.interrupt_lines(), 1 << 16);
        soc.catch_up(960);
        assert_eq!(word(&mut soc, 0x2000_0010), u32::from_le_bytes(*b"efcd"));
        assert_eq!(word(&mut soc, DMA1_S5 + 4), 2);
        // HTIF5 and TCIF5 in HISR.
        assert_eq!(word(&mut soc, 0x4002_6004), 0b11 << 10);
    }

    #[test]
    fn memory_that_is_not_there_ends_the_stream_with_teif() {
        let mut soc = soc();
        // CR3.DMAT, then a stream from address 0x30000000 with TEIE.
        soc.write(0x4000_4414, Width::Word, 1 << 7, 0).unwrap();
        soc.write(DMA1_S6 + 0xC, Width::Word, 0x3000_0000, 0)
            .unwrap();
        enable(&mut soc, 4 << 25 | 1 << 2, USART2_DR).unwrap();
        assert_eq!(soc.interrupt_lines(), 1 << 17);
        let control = soc.read(DMA1_S6, Width::Word, 0).unwrap().value;
        assert_eq!(control & 1, 0);
    }
}
