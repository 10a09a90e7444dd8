//! Fast paths for the commonest accesses to registers: polls of a USART's status, bytes to send,
//! markers at pins. They leave out checks that these accesses always pass. If an event is due
//! first, they return `None`, and the general access follows.

use super::access::apb_cycles;
use super::address_map::Block;
use super::schedule::FIRST_USART;
use super::Soc;
use crate::chip::PLACE_BYTES;
use cortex_m::bus::{Bus, Loaded, Steadiness, Width};

impl Soc {
    /// Polls a USART's status.
    #[inline(always)]
    pub(super) fn read_fast(
        &mut self,
        address: u32,
        width: Width,
        now: u64,
    ) -> Option<(Loaded, Steadiness)> {
        let responder = self.logic.responders.at(address)?;
        let Block::Usart(usart) = responder.block else {
            return None;
        };
        let polled = address % PLACE_BYTES == responder.fast.polled;
        if !polled || width != Width::Word || self.logic.schedule.next() <= now {
            return None;
        }
        let steady = self.steadiness(address)?;
        let loaded = Loaded {
            value: self.logic.usarts[usart].read_status(),
            wait_cycles: apb_cycles(steady.period_cycles, now),
        };
        Some((loaded, steady))
    }

    #[inline(always)]
    pub(super) fn write_fast(
        &mut self,
        address: u32,
        width: Width,
        value: u32,
        now: u64,
    ) -> Option<u32> {
        let responder = self.logic.responders.at(address)?;
        if width != Width::Word || self.logic.schedule.next() <= now {
            return None;
        }
        if address % PLACE_BYTES != responder.fast.written {
            return None;
        }
        match responder.block {
            // All bits are writable.
            Block::Gpio(port) => {
                self.logic.ports[port].set_and_reset(value);
                self.port_changed(port, now);
            }
            Block::Usart(usart) if value <= u8::MAX.into() => {
                self.logic.usarts[usart].transmit(value as u8, now);
                if self.logic.usarts[usart].may_signal() {
                    self.usart_accessed(usart, now);
                }
                self.reschedule(FIRST_USART + usart);
            }
            _ => return None,
        }
        Some(self.bridge_cycles(address, now))
    }
}

#[cfg(test)]
mod tests {
    use super::super::schedule::tests::SET_UP;
    use super::*;
    use crate::memory::Memory;
    use crate::random::Random;

    const WIDTHS: [Width; 4] = [Width::Word, Width::Word, Width::Half, Width::Byte];
    /// Registers of GPIOA, USART2, DMA1, EXTI, SYSCFG, TIM2, TIM5 and RCC.
    const REGISTERS: [u32; 16] = [
        0x4002_0010,
        0x4002_0014,
        0x4002_0018,
        0x4002_0018,
        0x4000_4400,
        0x4000_4404,
        0x4000_4404,
        0x4000_440C,
        0x4000_4414,
        0x4001_3C08,
        0x4001_3800,
        0x4000_0010,
        0x4000_0C10,
        0x4000_0000,
        0x4000_0C00,
        0x4002_3840,
    ];

    fn write(soc: &mut Soc, fast: bool, at: u32, width: Width, value: u32, now: u64) -> String {
        match fast
            .then(|| soc.write_fast_register(at, width, value, now))
            .flatten()
        {
            Some(wait_cycles) => format!("{:?}", Ok::<_, ()>(wait_cycles)),
            None => format!("{:?}", soc.write(at, width, value, now)),
        }
    }

    fn read(soc: &mut Soc, fast: bool, at: u32, width: Width, now: u64) -> String {
        let (read, steady) = match fast
            .then(|| soc.read_fast_register(at, width, now))
            .flatten()
        {
            Some((loaded, steady)) => (Ok(loaded), Some(steady)),
            None => (soc.read(at, width, now), soc.steadiness(at)),
        };
        format!("{read:?} {steady:?}")
    }

    #[test]
    fn a_fast_access_does_what_a_general_one_does() {
        for seed in 1..60 {
            let mut random = Random(seed);
            let mut socs = [Soc::new(Memory::default()), Soc::new(Memory::default())];
            for soc in &mut socs {
                for (register, bits) in SET_UP {
                    soc.write(register, Width::Word, bits, 0).unwrap();
                }
            }
            let mut now = 0;
            for _ in 0..400 {
                now += u64::from(random.below(300));
                let at = REGISTERS[random.below(REGISTERS.len() as u32) as usize];
                let width = WIDTHS[random.below(4) as usize];
                let value = random.setting();
                let reads = random.below(2) == 0;
                let [one, other] = &mut socs;
                let access = |soc: &mut Soc, fast| {
                    if reads {
                        read(soc, fast, at, width, now)
                    } else {
                        write(soc, fast, at, width, value, now)
                    }
                };
                assert_eq!(
                    access(one, true),
                    access(other, false),
                    "seed {seed}, cycle {now}, {at:#x}"
                );
                assert_eq!(
                    one.edges(),
                    other.edges(),
                    "seed {seed}, cycle {now}, {at:#x}"
                );
            }
            let [one, other] = socs.map(|soc| postcard::to_allocvec(&soc).unwrap());
            assert!(one == other, "seed {seed}");
        }
    }
}
