//! A flash without caches: the array is read a block at a time, and blocks ahead of the program are
//! read into a small buffer.
//!
//! - STM32F1: two blocks of 64 bits (PM0075, 2.3, "Instruction fetch"; ST's RM0364 says the same of
//!   the STM32F3, with "initiates a read request when there is at least one block free", and "DCode
//!   accesses have priority over prefetch accesses").
//! - STM32F0: three blocks of 32 bits (RM0091 §3.2.1).
//!
//! A cycle is the one in which an address or its data is on the bus. Reads that nothing has needed
//! yet are computed only when a request must know what the array did meanwhile.

use crate::model::FlashPort;
use serde::{Deserialize, Serialize};

const LATENCY: u32 = 0b111;
const PRFTBE: u32 = 1 << 4;
/// No buffer has more blocks. A power of two, so that a block's place is its number modulo this.
const PLACES: usize = 4;

#[derive(Clone, Serialize, Deserialize)]
pub struct PrefetchBuffer {
    block_bytes: u32,
    blocks: u32,
    read_cycles: u64,
    prefetches: bool,
    /// The block that the program was fetched from last.
    current: u32,
    /// The first block after it that is neither in the buffer nor being read.
    next: u32,
    array_free: u64,
    /// The same, if only data is read.
    data_done: u64,
    /// When the program got the current block's first word.
    entered: u64,
    /// When each block arrives, from `current` to `next`.
    arrival: [u64; PLACES],
}

fn place(block: u32) -> usize {
    block as usize % PLACES
}

impl PrefetchBuffer {
    /// The buffer of this port. `None` if the port is none.
    pub fn of(port: FlashPort) -> Option<PrefetchBuffer> {
        let (block_bytes, blocks) = match port {
            FlashPort::Art | FlashPort::Art64 | FlashPort::Art64Small => return None,
            FlashPort::Prefetch64x2 => (8, 2),
            FlashPort::Prefetch32x3 => (4, 3),
        };
        Some(PrefetchBuffer {
            block_bytes,
            blocks,
            read_cycles: 1,
            prefetches: false,
            current: 0,
            next: 0,
            array_free: 0,
            data_done: 0,
            entered: 0,
            arrival: [0; PLACES],
        })
    }

    /// Takes over FLASH_ACR (PM0075, 3.1; RM0091 §3.5.1).
    pub fn configure(&mut self, access_control: u32) {
        self.read_cycles = 1 + u64::from(access_control & LATENCY);
        self.prefetches = access_control & PRFTBE != 0;
    }

    /// The cycles of a read of the array.
    pub fn read_cycles(&self) -> u64 {
        self.read_cycles
    }

    /// All but the cycles: the current block and the next.
    pub fn shape(&self) -> (u32, u32) {
        (self.current, self.next)
    }

    /// Visits every cycle remembered here.
    pub fn each_moment(&mut self, mut visit: impl FnMut(&mut u64)) {
        visit(&mut self.array_free);
        visit(&mut self.data_done);
        visit(&mut self.entered);
        self.arrival.iter_mut().for_each(visit);
    }

    /// The cycle in which the code at `address` arrives, requested in cycle `at`.
    ///
    /// A jump to a block that is still in the buffer finds it there. One to any other block breaks
    /// off a prefetch that is under way. Both are chosen, the second by figures
    /// (docs/reference/timing.md).
    pub fn instruction(&mut self, address: u32, at: u64) -> u64 {
        let block = address / self.block_bytes;
        self.read_ahead(at);
        let held = (self.current..self.next).contains(&block);
        if !held {
            self.array_free = self.array_free.min(at.max(self.data_done));
            self.next = block;
            self.read_next(at);
        }
        let arrival = self.arrival[place(block)].max(at + 1);
        if !held || block != self.current {
            self.current = block;
            self.entered = arrival;
        }
        arrival
    }

    /// The cycle in which data arrives, requested in cycle `at`. It goes before reads that have not
    /// begun, and the buffer does not take it.
    pub fn data(&mut self, at: u64) -> u64 {
        self.read_ahead(at);
        self.array_free = self.array_free.max(at) + self.read_cycles;
        self.data_done = self.array_free;
        self.array_free
    }

    /// Reads the blocks that the buffer has room for, as far as their reads begin before `before`.
    /// A block gives room when the program has got the first word of the next one.
    fn read_ahead(&mut self, before: u64) {
        while self.prefetches && self.next.wrapping_sub(self.current) < self.blocks {
            // The last place is that of the block before the current one.
            let last = self.next.wrapping_sub(self.current) == self.blocks - 1;
            let room = if last { self.entered } else { 0 };
            let start = self.array_free.max(room);
            if start >= before {
                return;
            }
            self.read_next(start);
        }
    }

    fn read_next(&mut self, at: u64) {
        self.array_free = self.array_free.max(at) + self.read_cycles;
        self.arrival[place(self.next)] = self.array_free;
        self.next = self.next.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(port: FlashPort, access_control: u32) -> PrefetchBuffer {
        let mut buffer = PrefetchBuffer::of(port).unwrap();
        buffer.configure(access_control);
        buffer
    }

    /// 64 bits in three cycles: four instructions of 16 bits in three, so that straight code does
    /// not wait (PM0075, 2.3).
    #[test]
    fn straight_code_on_an_stm32f1_waits_only_once() {
        let mut flash = buffer(FlashPort::Prefetch64x2, 2 | PRFTBE);
        assert_eq!(flash.instruction(0x100, 10), 13);
        assert_eq!(flash.instruction(0x104, 13), 14, "the same 64 bits");
        assert_eq!(flash.instruction(0x108, 15), 16, "read from 13 to 16");
        assert_eq!(flash.instruction(0x10C, 17), 18);
        assert_eq!(flash.instruction(0x110, 19), 20, "read from 16 to 19");
    }

    #[test]
    fn without_prefetch_every_block_waits() {
        let mut flash = buffer(FlashPort::Prefetch64x2, 2);
        assert_eq!(flash.instruction(0x100, 10), 13);
        assert_eq!(flash.instruction(0x108, 15), 18);
        assert_eq!(flash.instruction(0x100, 20), 23, "it is gone");
    }

    #[test]
    fn a_jump_breaks_off_a_prefetch_but_no_data() {
        let mut flash = buffer(FlashPort::Prefetch64x2, 2 | PRFTBE);
        flash.instruction(0x100, 10);
        assert_eq!(
            flash.instruction(0x400, 14),
            17,
            "block 0x108 was read until 16"
        );
        assert_eq!(flash.data(18), 23, "block 0x408 is read until 20");
        assert_eq!(flash.instruction(0x500, 19), 26, "the data until 23");
        let mut idle = buffer(FlashPort::Prefetch64x2, 2 | PRFTBE);
        idle.instruction(0x100, 10);
        assert_eq!(
            idle.instruction(0x400, 30),
            33,
            "the buffer is full since 16"
        );
    }

    #[test]
    fn an_stm32f0_reads_two_words_ahead() {
        let mut flash = buffer(FlashPort::Prefetch32x3, 1 | PRFTBE);
        assert_eq!(flash.instruction(0x100, 10), 12);
        assert_eq!(flash.instruction(0x104, 30), 31);
        assert_eq!(flash.instruction(0x108, 31), 32);
        assert_eq!(flash.instruction(0x10C, 32), 33, "asked for since 30");
        assert_eq!(
            flash.instruction(0x110, 33),
            34,
            "read from 32 on: the array is free"
        );
    }

    #[test]
    fn data_is_read_each_time_and_first() {
        let mut flash = buffer(FlashPort::Prefetch32x3, 1 | PRFTBE);
        flash.instruction(0x100, 10);
        assert_eq!(flash.data(12), 14, "the prefetch would begin now");
        assert_eq!(flash.data(20), 22);
        assert_eq!(flash.data(22), 24);
    }
}
