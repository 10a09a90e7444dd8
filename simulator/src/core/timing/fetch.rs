//! The prefetch unit: a decoupled buffer of three words in front of the decoder (Cortex-M3 TRM, ARM DDI 0337, §1.2.2:
//! "three entry" prefetch buffer; the Cortex-M4 has the same).
//!
//! Nothing here ticks. The cycle in which each word arrives follows from when the bus was free and when a place in the
//! buffer was; words that nobody has asked for yet are worked out when a branch or the data side needs to know what the
//! unit did meanwhile.
//!
//! Phases: an address in cycle A, its word in cycle A + 1 or later, decoded the cycle after, executed the one after that.

use serde::{Deserialize, Serialize};

use super::flash::{line_of, Flash, FlashShape};
use crate::core::decode::Op;

/// Words that the buffer holds.
const BUFFER_WORDS: u32 = 3;
/// From the cycle in which a word arrives to the execution of its instruction.
const DECODE_CYCLES: u64 = 2;
/// End of the Code region, which the I-Code bus serves (B3.1).
const CODE_END: u32 = 0x2000_0000;
/// Words of a line of the flash.
const LINE_WORDS: u32 = 4;
/// No word has a number as high.
const NO_LINE: u32 = u32::MAX - LINE_WORDS;

/// Where what concerns no word goes.
const NOWHERE: u32 = 4;

/// Per-word cycles are kept for word numbers modulo 4: the three of the buffer and the one that has just left it.
#[derive(Clone, Serialize, Deserialize)]
pub struct Fetch {
    /// Number (address / 4) of the next word to ask for.
    next: u32,
    /// The I-Code bus takes an address in this cycle.
    bus_free: u64,
    /// Cycle in which a word arrived.
    arrival: [u64; 4],
    /// Cycle from which a word's place in the buffer is free; the upper half holds nothing of use.
    left: [u64; 8],
    /// Number of the first word of the line that the I-Code port read last.
    line_start: u32,
    flash: Flash,
}

/// What is left of [`Fetch`] without its cycles.
#[derive(Clone, PartialEq, Eq)]
pub struct FetchShape {
    next: u32,
    line_start: u32,
    flash: FlashShape,
}

impl Fetch {
    pub fn new() -> Fetch {
        Fetch {
            next: u32::MAX,
            bus_free: 0,
            arrival: [0; 4],
            left: [0; 8],
            line_start: NO_LINE,
            flash: Flash::new(),
        }
    }

    /// Where the word that an instruction ends in is kept, and where it is noted that a word has left, if the instruction
    /// is the last in it.
    pub fn places(pc: u32, size: u8) -> (u8, u8) {
        let last = pc.wrapping_add(u32::from(size) - 1) >> 2;
        let leaves = (pc & 2) + u32::from(size) >= 4;
        let left = if leaves { pc >> 2 & 3 } else { NOWHERE };
        ((last & 3) as u8, left as u8)
    }

    /// The cycle in which the instruction at `pc` executes if the core is free from `now` on, and the cycle in which it could
    /// if the core were always free.
    #[inline(always)]
    pub fn issue(&mut self, pc: u32, op: &Op, now: u64) -> (u64, u64) {
        let last = pc.wrapping_add(u32::from(op.size) - 1) >> 2;
        if last.wrapping_sub(self.next) < u32::MAX - BUFFER_WORDS {
            self.fetch_through(pc, last, now);
        }
        let decoded = self.arrival[usize::from(op.arrives & 3)] + DECODE_CYCLES;
        let start = now.max(decoded);
        self.left[usize::from(op.leaves & 7)] = start;
        (start, decoded)
    }

    /// Drops the buffer and fetches from `target`, whose address is on the bus in cycle `at`. `fall_through` is where the
    /// program would have gone on: words from there were asked for only where the bus was free before.
    pub fn branch(&mut self, target: u32, fall_through: u32, at: u64) {
        self.run_ahead(fall_through, at);
        self.restart(target, at);
    }

    /// The cycle in which the data at `address` in flash is there, asked for in cycle `at`; the next instruction is at
    /// `pc`. What the prefetch unit had asked for before is served first.
    pub fn data(&mut self, address: u32, at: u64, pc: u32) -> u64 {
        self.run_ahead(pc, at);
        self.flash.data(address, at)
    }

    /// Reads an exception's vector over the I-Code bus, asked for in cycle `at`; returns the cycle of its arrival.
    pub fn vector(&mut self, address: u32, pc: u32, at: u64) -> u64 {
        self.run_ahead(pc, at);
        let at = at.max(self.bus_free);
        self.bus_free = self.word_arrival(address >> 2, at);
        self.bus_free
    }

    pub fn restart(&mut self, target: u32, at: u64) {
        self.next = target >> 2;
        self.bus_free = self.bus_free.max(at);
        self.left = [0; 8];
    }

    pub fn shape(&self) -> FetchShape {
        FetchShape {
            next: self.next,
            line_start: self.line_start,
            flash: self.flash.shape(),
        }
    }

    /// Every cycle that is remembered here.
    pub fn each_moment(&mut self, mut visit: impl FnMut(&mut u64)) {
        visit(&mut self.bus_free);
        self.arrival.iter_mut().for_each(&mut visit);
        self.left[..4].iter_mut().for_each(&mut visit);
        self.flash.each_moment(visit);
    }

    /// Takes over FLASH_ACR.
    pub fn configure(&mut self, access_control: u32) {
        if access_control != self.flash.access_control() {
            self.flash.configure(access_control);
        }
    }

    #[inline(always)]
    fn fetch_through(&mut self, pc: u32, last: u32, now: u64) {
        if last.wrapping_sub(self.next) >= 2 {
            // Not the successor of what was fetched: a debugger has moved the PC.
            self.restart(pc, now);
        }
        self.fetch_next();
        if self.next != last.wrapping_add(1) {
            self.fetch_next();
        }
    }

    #[inline(always)]
    fn fetch_next(&mut self) {
        let at = self.next_address_cycle();
        let word = self.next as usize % 4;
        self.arrival[word] = self.word_arrival(self.next, at);
        self.bus_free = self.arrival[word];
        self.next = self.next.wrapping_add(1);
    }

    /// The bus takes an address while it delivers the word before; the buffer has room when the word three before has
    /// gone to execution.
    #[inline(always)]
    fn next_address_cycle(&self) -> u64 {
        let three_before = self.next.wrapping_sub(BUFFER_WORDS) as usize % 4;
        self.bus_free.max(self.left[three_before])
    }

    #[inline(always)]
    fn word_arrival(&mut self, word: u32, at: u64) -> u64 {
        if word.wrapping_sub(self.line_start) < LINE_WORDS {
            return at + 1;
        }
        self.line_arrival(word, at)
    }

    /// Code in SRAM comes without wait states.
    #[inline(never)]
    fn line_arrival(&mut self, word: u32, at: u64) -> u64 {
        let address = word << 2;
        if address >= CODE_END {
            return at + 1;
        }
        self.line_start = word & !(LINE_WORDS - 1);
        self.flash.instruction_line(line_of(address), at)
    }

    /// Asks for what the unit would have asked for before cycle `before`, the next instruction being at `pc`.
    fn run_ahead(&mut self, pc: u32, before: u64) {
        let end = (pc >> 2).wrapping_add(BUFFER_WORDS);
        while self.next != end
            && end.wrapping_sub(self.next) <= BUFFER_WORDS
            && self.next_address_cycle() < before
        {
            self.fetch_next();
        }
    }
}
