//! The schedule: for each peripheral, the cycle of its next event that anyone can see. It changes
//! only when a peripheral does, never with time alone.

use crate::peripherals::timer::TIMERS;
use crate::peripherals::usart::MODELS;
use serde::{Deserialize, Serialize};

/// Places in the schedule: the timers, then the other peripherals.
pub(super) const FIRST_USART: usize = TIMERS;
pub(super) const FLASH: usize = FIRST_USART + MODELS.len();
pub(super) const PARTNERS: usize = FLASH + 1;
pub(super) const FIRST_OTHER: usize = PARTNERS + 1;
const NEVER: u64 = u64::MAX;

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Schedule {
    pub cycles: Vec<u64>,
    next: u64,
    /// The sources that have an event, in their order: a few of all. See `rearm`.
    #[serde(skip)]
    armed: Vec<usize>,
}

impl Schedule {
    /// Nothing is due. `others` is the number of peripherals from [`FIRST_OTHER`] on.
    pub fn new(others: usize) -> Schedule {
        Schedule {
            cycles: vec![NEVER; FIRST_OTHER + others],
            next: NEVER,
            armed: Vec::new(),
        }
    }

    /// Computes what a snapshot leaves out.
    pub fn rearm(&mut self) {
        let sources = 0..self.cycles.len();
        self.armed = sources
            .filter(|source| self.cycles[*source] != NEVER)
            .collect();
    }

    /// The cycle of the next event. `u64::MAX` if there is none.
    #[inline(always)]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The first source from `from` on that has an event up to `cycle`.
    pub fn next_due(&self, from: usize, cycle: u64) -> Option<usize> {
        let mut armed = self.armed.iter().copied();
        armed.find(|source| *source >= from && self.cycles[*source] <= cycle)
    }

    /// Sets the next event of a source. True if the next of all events changed.
    pub fn set(&mut self, source: usize, event: Option<u64>) -> bool {
        let cycle = event.unwrap_or(NEVER);
        if self.cycles[source] == cycle {
            return false;
        }
        match self.armed.binary_search(&source) {
            Ok(place) if cycle == NEVER => _ = self.armed.remove(place),
            Err(place) if cycle != NEVER => self.armed.insert(place, source),
            _ => {}
        }
        self.cycles[source] = cycle;
        let armed = self.armed.iter().map(|source| self.cycles[*source]);
        let next = armed.fold(NEVER, u64::min);
        std::mem::replace(&mut self.next, next) != next
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::memory::Memory;
    use crate::peripherals::registers::Register;
    use crate::random::Random;
    use crate::soc::Soc;
    use cortex_m::bus::{Bus, Width};

    fn is_scheduled(soc: &Soc) -> bool {
        let cycles = &soc.logic.schedule.cycles;
        let armed = (0..cycles.len()).filter(|source| cycles[*source] != NEVER);
        (0..cycles.len()).all(|source| cycles[source] == soc.event_of(source).unwrap_or(NEVER))
            && armed.eq(soc.logic.schedule.armed.iter().copied())
            && soc.logic.schedule.next == cycles.iter().copied().fold(NEVER, u64::min)
    }

    /// Addresses of the registers of all peripherals that have events or pins.
    fn registers(soc: &mut Soc) -> Vec<u32> {
        let tables = soc.register_tables();
        let rows = |name| {
            let named = tables.iter().find(|table| table.0 == name);
            named.map_or(&[] as &[Register], |table| table.1)
        };
        soc.memory()
            .chip()
            .peripherals
            .iter()
            .filter(|place| {
                let unwanted = ["RCC", "FLASH", "IWDG"].contains(&place.name.as_str());
                place.kind.is_some() && !unwanted
            })
            .flat_map(|place| {
                rows(place.name.as_str())
                    .iter()
                    .map(|row| place.base + row.offset)
            })
            .collect()
    }

    /// All clocks on, and USART2 sending and receiving at PA2 and PA3.
    pub(in crate::soc) const SET_UP: [(u32, u32); 6] = [
        (0x4002_3830, 0x0060_109F),
        (0x4002_3840, 0x1002_080F),
        (0x4002_0000, 0xA800_00A0),
        (0x4002_0020, 0x7700),
        (0x4000_4408, 64),
        (0x4000_440C, 0x200C),
    ];

    #[test]
    fn what_is_remembered_is_what_the_registers_say() {
        for seed in 1..200 {
            let mut random = Random(seed);
            let mut soc = Soc::new(Memory::default());
            for (register, bits) in SET_UP {
                soc.write(register, Width::Word, bits, 0).unwrap();
            }
            // Registers of about one peripheral, so that it is soon set up.
            let all = registers(&mut soc);
            let first = random.below(all.len() as u32 - 20) as usize;
            let registers = &all[first..first + 20];
            let mut now = 0;
            for _ in 0..500 {
                now += u64::from(random.below(300));
                let register = registers[random.below(registers.len() as u32) as usize];
                match random.below(8) {
                    0 => soc.catch_up(now + 5_000),
                    1 => drop(soc.read(register, Width::Word, now)),
                    2 => soc.receive(b"x", now),
                    // A write that is refused may have changed part of the register.
                    _ => drop(soc.write(register, Width::Word, random.setting(), now)),
                }
                if soc.take_reset_due().is_some() {
                    break;
                }
                soc.catch_up(now);
                assert!(
                    is_scheduled(&soc),
                    "seed {seed}, cycle {now}, register {register:#x}"
                );
                assert!(
                    soc.is_connected(),
                    "seed {seed}, cycle {now}, register {register:#x}"
                );
            }
        }
    }
}
