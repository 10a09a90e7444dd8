//! The flash interface of the STM32F4: 128-bit reads, wait states, prefetch and two caches (RM0368
//! §3.4, "ART accelerator"). The STM32L4's reads 64 bits, and has caches of other sizes (RM0351
//! §3.3.4).
//!
//! A cycle is the one in which an address or its data is on the bus. Without waiting, an address in
//! cycle `at` gets its data in cycle `at` + 1. One array serves both ports. It reads one line at a
//! time.

use serde::{Deserialize, Serialize};

use super::lru::LruSet;
use super::prefetch_buffer::PrefetchBuffer;
use crate::model::FlashPort;

/// Bytes of a line, how many there are, and how many each cache has. With BOOT0 low the flash answers at
/// 0 and at 0x0800_0000 (RM0368 §2.4).
struct Lines {
    bytes: u32,
    numbers: u32,
    instructions: usize,
    data: usize,
}

/// RM0368 §3.4.2.
const OF_F4: Lines = Lines {
    bytes: 16,
    numbers: 512 * 1024 / 16,
    instructions: 64,
    data: 8,
};
/// RM0351 §3.3.4: "32 lines of 4 x 64 bits" and "8 lines of 4 x 64 bits". Whether four that follow
/// each other share a line is not documented. Here each comes and goes by itself.
const OF_L4: Lines = Lines {
    bytes: 8,
    numbers: 1024 * 1024 / 8,
    instructions: 32 * 4,
    data: 8 * 4,
};

/// RM0444 §3.3.5: 16 bytes of code, and no cache of data. The line that was read last is kept, as the
/// others keep theirs, which is all that one place holds.
const OF_G0: Lines = Lines {
    bytes: 8,
    numbers: 128 * 1024 / 8,
    instructions: 2,
    data: 1,
};

const LATENCY: u32 = 0xF;
const PRFTEN: u32 = 1 << 8;
const ICEN: u32 = 1 << 9;
const DCEN: u32 = 1 << 10;
const ICRST: u32 = 1 << 11;
const DCRST: u32 = 1 << 12;

/// No line has this number.
const NONE: u32 = u32::MAX;

/// The read that the prefetch plans. It begins at `start`, unless a request comes first.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Prefetch {
    line: u32,
    start: u64,
    /// When the line arrives. `None`: the read has not begun.
    arrival: Option<u64>,
}

const NO_PREFETCH: Prefetch = Prefetch {
    line: NONE,
    start: 0,
    arrival: None,
};

#[derive(Clone, Serialize, Deserialize)]
pub struct Flash {
    access_control: u32,
    /// A line has two to the power of this many bytes.
    line_shift: u32,
    /// The numbers that lines have, counted from the flash's beginning.
    line_mask: u32,
    /// Cycles that a read of the array takes.
    read_cycles: u64,
    /// The array takes its next address in this cycle.
    array_free: u64,
    prefetch: Prefetch,
    instructions: LruSet,
    data: LruSet,
    /// The line that the D-Code port read last.
    data_line: u32,
    /// What stands here instead of all this on a chip without the accelerator.
    pub buffer: Option<PrefetchBuffer>,
}

/// [`Flash`] without its cycles: the line that is prefetched, and whether its read has begun; the line that
/// the D-Code port read last; the insertions of both caches; and the buffer. While the insertions stay the
/// same, all lines used were in the caches, and using them again in the same order changes nothing.
/// FLASH_ACR is left out: it cannot change without a store.
pub type FlashShape = (u32, bool, u32, [u64; 2], Option<(u32, u32)>);

impl Flash {
    pub fn of(port: FlashPort) -> Flash {
        let lines = match port {
            FlashPort::Art64 => &OF_L4,
            FlashPort::Art64Small => &OF_G0,
            _ => &OF_F4,
        };
        Flash {
            access_control: 0,
            line_shift: lines.bytes.ilog2(),
            line_mask: lines.numbers - 1,
            read_cycles: 1,
            array_free: 0,
            prefetch: NO_PREFETCH,
            instructions: LruSet::new(lines.instructions, lines.numbers),
            data: LruSet::new(lines.data, lines.numbers),
            data_line: NONE,
            buffer: PrefetchBuffer::of(port),
        }
    }

    /// Takes over FLASH_ACR.
    pub fn configure(&mut self, access_control: u32) {
        self.access_control = access_control;
        if let Some(buffer) = &mut self.buffer {
            return buffer.configure(access_control);
        }
        self.read_cycles = 1 + u64::from(access_control & LATENCY);
        if access_control & ICRST != 0 {
            self.instructions.clear();
        }
        if access_control & DCRST != 0 {
            self.data.clear();
        }
    }

    pub fn shape(&self) -> FlashShape {
        (
            self.prefetch.line,
            self.prefetch.arrival.is_some(),
            self.data_line,
            [&self.instructions, &self.data].map(LruSet::insertions),
            self.buffer.as_ref().map(PrefetchBuffer::shape),
        )
    }

    /// Visits every cycle remembered here.
    pub fn each_moment(&mut self, mut visit: impl FnMut(&mut u64)) {
        if let Some(buffer) = &mut self.buffer {
            return buffer.each_moment(visit);
        }
        visit(&mut self.array_free);
        visit(&mut self.prefetch.start);
        self.prefetch.arrival.iter_mut().for_each(visit);
    }

    pub fn access_control(&self) -> u32 {
        self.access_control
    }

    /// The cycles of a read of the array.
    pub fn read_cycles(&self) -> u64 {
        let buffered = self.buffer.as_ref().map(PrefetchBuffer::read_cycles);
        buffered.unwrap_or(self.read_cycles)
    }

    /// Bytes of a line.
    pub fn line_bytes(&self) -> u32 {
        1 << self.line_shift
    }

    #[inline(always)]
    fn line_of(&self, address: u32) -> u32 {
        address >> self.line_shift & self.line_mask
    }

    /// The cycle in which the I-Code port has the line at `address`, requested in cycle `at`. It is
    /// not the current line.
    ///
    /// §3.4.2: a line that is neither prefetched nor cached is read and copied into the cache. The
    /// next line is read while the current one executes.
    #[inline(always)]
    pub fn instruction_line(&mut self, address: u32, at: u64) -> u64 {
        let line = self.line_of(address);
        let cached = self.has(ICEN) && self.instructions.touch(line);
        let arrival = if cached {
            at + 1
        } else if line == self.prefetch.line {
            self.begin_prefetch().max(at + 1)
        } else {
            return self.read_instruction_line(line, at);
        };
        self.plan_prefetch(line, arrival);
        arrival
    }

    /// The cycle in which the D-Code port has the data at `address`, requested in cycle `at`.
    ///
    /// Like the I-Code port it keeps the line that it read last. ST says so of the same accelerator
    /// in the STM32L4 (RM0351 §3.3.4), and says nothing about the F4's.
    #[inline(always)]
    pub fn data(&mut self, address: u32, at: u64) -> u64 {
        if self.buffer.is_some() {
            return self.data_past_buffer(at);
        }
        let line = self.line_of(address);
        let cached = self.has(DCEN) && self.data.touch(line);
        if line == self.data_line || cached {
            self.data_line = line;
            return at + 1;
        }
        self.data_line = line;
        self.read_data_line(line, at)
    }

    #[cold]
    #[inline(never)]
    fn data_past_buffer(&mut self, at: u64) -> u64 {
        let buffer = self.buffer.as_mut();
        buffer.map_or(at + 1, |buffer| buffer.data(at))
    }

    fn has(&self, bit: u32) -> bool {
        self.access_control & bit != 0
    }

    #[inline(never)]
    fn read_data_line(&mut self, line: u32, at: u64) -> u64 {
        if self.has(DCEN) {
            self.data.insert(line);
        }
        self.begin_prefetch_before(at);
        self.read_array(at)
    }

    #[inline(never)]
    fn read_instruction_line(&mut self, line: u32, at: u64) -> u64 {
        if self.has(ICEN) {
            self.instructions.insert(line);
        }
        self.begin_prefetch_before(at);
        let arrival = self.read_array(at);
        self.plan_prefetch(line, arrival);
        arrival
    }

    fn read_array(&mut self, at: u64) -> u64 {
        self.array_free = at.max(self.array_free) + self.read_cycles;
        self.array_free
    }

    /// Plans to read the next line while `line` executes, which arrives in cycle `arrival`.
    #[inline(always)]
    fn plan_prefetch(&mut self, line: u32, arrival: u64) {
        if !self.has(PRFTEN) {
            return;
        }
        let next = (line + 1) & self.line_mask;
        let present = self.has(ICEN) && self.instructions.contains(next);
        if next != self.prefetch.line && !present {
            self.prefetch = Prefetch {
                line: next,
                start: arrival,
                arrival: None,
            };
        }
    }

    /// A request waits for a prefetch that has begun (§3.4.2 gives the wait states as the *least*
    /// penalty of a jump). It comes before one that has not begun.
    fn begin_prefetch_before(&mut self, at: u64) {
        if self.prefetch.line != NONE && self.prefetch.start.max(self.array_free) < at {
            self.begin_prefetch();
        }
    }

    fn begin_prefetch(&mut self) -> u64 {
        if let Some(arrival) = self.prefetch.arrival {
            return arrival;
        }
        let arrival = self.read_array(self.prefetch.start);
        self.prefetch.arrival = Some(arrival);
        arrival
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two wait states, as at 84 MHz, and these bits of FLASH_ACR.
    fn flash(bits: u32) -> Flash {
        let mut flash = Flash::of(FlashPort::Art);
        flash.configure(2 | bits);
        flash
    }

    #[test]
    fn a_line_takes_the_wait_states_and_the_array_one_read_at_a_time() {
        let mut flash = flash(0);
        assert_eq!(flash.instruction_line(16 * 5, 10), 13);
        assert_eq!(flash.data(0x100, 11), 16, "the array is busy until 13");
        assert_eq!(flash.data(0x10C, 20), 21, "the same line");
        assert_eq!(flash.data(0x110, 30), 33);
        assert_eq!(flash.data(0x100, 40), 43, "only the last line is kept");
    }

    #[test]
    fn the_prefetch_reads_the_next_line_meanwhile() {
        let mut flash = flash(PRFTEN);
        assert_eq!(flash.instruction_line(16 * 5, 10), 13);
        assert_eq!(flash.instruction_line(16 * 6, 14), 16, "begun at 13");
        assert_eq!(flash.instruction_line(16 * 7, 25), 26, "there since 19");
        assert_eq!(
            flash.instruction_line(16 * 40, 27),
            32,
            "line 8 is read until 29"
        );
    }

    #[test]
    fn data_goes_before_a_prefetch_that_has_not_begun() {
        let mut flash = flash(PRFTEN);
        flash.instruction_line(16 * 5, 10);
        assert_eq!(flash.data(0x100, 13), 16);
        assert_eq!(flash.instruction_line(16 * 6, 14), 19);
    }

    #[test]
    fn caches_answer_at_once_and_forget_the_least_recently_used() {
        let mut flash = flash(ICEN | DCEN);
        for line in 0..64 {
            flash.instruction_line(16 * line, 1000 * u64::from(line));
        }
        assert_eq!(flash.instruction_line(0, 70_000), 70_001);
        assert_eq!(flash.instruction_line(16 * 64, 80_000), 80_003);
        assert_eq!(flash.instruction_line(0, 90_000), 90_001);
        assert_eq!(
            flash.instruction_line(16, 91_000),
            91_003,
            "line 1 gave way"
        );
        for line in 0..9 {
            flash.data(16 * line, 100_000 + 100 * u64::from(line));
        }
        assert_eq!(flash.data(0, 200_000), 200_003, "eight rows of data");
        assert_eq!(flash.data(0x80, 201_000), 201_001);
    }

    /// RM0351 §3.3.4: 64 bits are read at a time, and 1 KiB of them kept.
    #[test]
    fn an_stm32l4_has_shorter_lines_and_more_of_them() {
        let mut flash = Flash::of(FlashPort::Art64);
        flash.configure(4 | ICEN | DCEN | PRFTEN);
        assert_eq!(flash.instruction_line(0x100, 10), 15);
        assert_eq!(flash.instruction_line(0x108, 17), 20, "read from 15 on");
        flash.configure(4 | ICEN | DCEN);
        for line in 0..128 {
            flash.instruction_line(0x1000 + 8 * line, 1000 + 100 * u64::from(line));
        }
        assert_eq!(flash.instruction_line(0x1000, 20_000), 20_001);
        assert_eq!(flash.instruction_line(0x1400, 21_000), 21_005);
        assert_eq!(
            flash.instruction_line(0x1008, 22_000),
            22_005,
            "it gave way"
        );
        assert_eq!(flash.data(0x2000, 30_000), 30_005);
        assert_eq!(flash.data(0x2004, 30_010), 30_011);
        assert_eq!(flash.data(0x2008, 30_020), 30_025);
    }

    #[test]
    fn resetting_a_cache_empties_it() {
        let mut flash = flash(ICEN);
        flash.instruction_line(16 * 9, 0);
        flash.configure(2 | ICRST);
        flash.configure(2 | ICEN);
        assert_eq!(flash.instruction_line(16 * 9, 100), 103);
    }
}
