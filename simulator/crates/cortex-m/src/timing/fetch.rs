//! The prefetch unit: a buffer of three words in front of the decoder (Cortex-M3 TRM, ARM DDI 0337,
//! §1.2.2: "three entry" prefetch buffer; the Cortex-M4 has the same).
//!
//! The unit does not tick. The cycle in which a word arrives follows from two others: when the bus
//! was free, and when the buffer had room. Words that no instruction has needed yet are computed
//! only when a branch or a data access must know what the unit did meanwhile.
//!
//! A word takes these steps: its address is on the bus in cycle A. It arrives in cycle A + 1 or
//! later. The next cycle decodes it. The one after that executes it.

mod one_bus;

use serde::{Deserialize, Serialize};

use super::flash::{Flash, FlashShape};
use crate::decode::{Op, Slot};
use crate::memory_map::CODE_END;
use crate::model::{Model, Supply};

/// Words that the buffer holds.
const BUFFER_WORDS: u32 = 3;
const WORD_BYTES: u32 = 4;
/// The words of the buffer, and the one that has just left it.
const WORDS_KEPT: usize = 4;
/// From the arrival of a word to the execution of its instruction.
const DECODE_CYCLES: u64 = 2;
/// No code is in this line, and none reaches the next one.
const NO_LINE: Line = Line {
    start: 0xFFFF_FFF0,
    end: u32::MAX,
};
/// The line of a flash with a prefetch buffer, always: its blocks are shorter than a line, so each word
/// is asked for. No code is at address 0.
const BUFFERED: Line = Line { start: 0, end: 0 };
/// Addresses are compared as signed numbers, so this lies far before all code. It means that
/// fetching begins at the next instruction.
const BEFORE_ALL: u32 = 0xC000_0000;

const SLOTS: usize = Slot::Nowhere as usize + 1;

fn slot_of(address: u32) -> Slot {
    [Slot::Zero, Slot::One, Slot::Two, Slot::Three][slot(address)]
}

fn slot(address: u32) -> usize {
    (address / WORD_BYTES) as usize % WORDS_KEPT
}

/// The end of the words that the buffer has room for while the next instruction is at `pc`.
fn buffer_end(pc: u32) -> u32 {
    (pc & !(WORD_BYTES - 1)).wrapping_add(BUFFER_WORDS * WORD_BYTES)
}

/// The addresses of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    start: u32,
    end: u32,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Fetch {
    /// Address of the next word to fetch, or [`BEFORE_ALL`].
    next: u32,
    /// The I-Code bus takes its next address in this cycle.
    bus_free: u64,
    /// The cycle in which each word arrived.
    arrival: [u64; SLOTS],
    /// From this cycle on the buffer has room for the word: the word three before has left it.
    room: [u64; SLOTS],
    /// The cycle in which the instruction issued last began to execute, and left the decoder.
    issued: u64,
    /// The line that the I-Code port read last.
    line: Line,
    line_bytes: u32,
    /// The words that fit the buffer may lie in two lines that are still to be read.
    reaches_two_lines: bool,
    flash: Flash,
    /// Where a core with one bus goes on unless it branches.
    follows: u32,
    /// On such a core the cycles from a word's arrival to its execution.
    decode_cycles: u64,
}

/// [`Fetch`] without its cycles: the next word, the line, and the flash.
pub type FetchShape = (u32, Line, FlashShape);

impl Fetch {
    pub fn of(model: Model) -> Fetch {
        let flash = Flash::of(model.flash_port);
        let line_bytes = flash.line_bytes();
        Fetch {
            next: BEFORE_ALL,
            bus_free: 0,
            arrival: [0; SLOTS],
            room: [0; SLOTS],
            issued: 0,
            line: match flash.buffer {
                Some(_) => BUFFERED,
                None => NO_LINE,
            },
            line_bytes,
            reaches_two_lines: flash.buffer.is_some() || line_bytes < BUFFER_WORDS * WORD_BYTES,
            flash,
            follows: BEFORE_ALL,
            decode_cycles: match model.facts().supply {
                Supply::OneBus { decode, .. } => decode,
                Supply::Buffered => DECODE_CYCLES,
            },
        }
    }

    /// The slots of an instruction: of its last word, and of the word that may be fetched when the
    /// instruction leaves the buffer. The second is `Nowhere` unless the instruction ends its last
    /// word.
    pub fn slots(pc: u32, size: u8) -> (Slot, Slot) {
        let last = pc.wrapping_add(u32::from(size) - 1);
        let leaves = (pc & 2) + u32::from(size) >= WORD_BYTES;
        let room = if leaves {
            slot_of(buffer_end(pc))
        } else {
            Slot::Nowhere
        };
        (slot_of(last), room)
    }

    /// The cycle in which the instruction from `pc` to `end` executes, if the core is free from
    /// `now` on.
    #[inline(always)]
    pub fn issue(&mut self, pc: u32, end: u32, op: &Op, now: u64) -> u64 {
        if end as i32 > self.next as i32 {
            self.fetch_for(pc, now);
            if end > self.next {
                self.fetch_another();
            }
        }
        let unhindered = self.decoded(op).max(self.issued + 1);
        self.issued = now.max(unhindered);
        self.room[op.leaves as usize] = if now > unhindered {
            now
        } else {
            unhindered - 1
        };
        self.issued
    }

    /// The instruction issued last begins a cycle earlier, beside the one before it, which then does
    /// not hold it in the decoder.
    #[inline(always)]
    pub fn advance(&mut self, op: &Op) {
        self.issued -= 1;
        self.room[op.leaves as usize] = self.issued - 1;
    }

    /// The first cycle in which the instruction issued last could execute if the core were free.
    #[inline(always)]
    pub fn decoded(&self, op: &Op) -> u64 {
        self.decoded_at(op.arrives)
    }

    /// The same, of an instruction whose last word has this slot.
    #[inline(always)]
    pub fn decoded_at(&self, arrives: Slot) -> u64 {
        self.arrival[arrives as usize] + DECODE_CYCLES
    }

    /// Empties the buffer and fetches from `target`. Its address is on the bus in cycle `at`. The
    /// program would have continued at `fall_through`: words from there were fetched only while the
    /// bus was free before.
    pub fn branch(&mut self, target: u32, fall_through: u32, at: u64) {
        if self.may_reach_next_line(fall_through, at) {
            return self.branch_behind_line(target, fall_through, at);
        }
        self.restart(target, at);
    }

    #[inline(never)]
    fn branch_behind_line(&mut self, target: u32, fall_through: u32, at: u64) {
        if self.reaches_two_lines {
            return self.branch_in_order(target, fall_through, at);
        }
        let wrong = self.next_line_address_cycle(fall_through, at);
        self.restart(target, at);
        if let Some(at) = wrong {
            self.read_wrong_line(at);
        }
    }

    #[inline(never)]
    fn read_wrong_line(&mut self, at: u64) {
        let start = self.line.end;
        let arrival = self.read_line(start, at);
        self.bus_free = self.bus_free.max(arrival);
    }

    /// The cycle in which the data at `address` in flash arrives. It is requested in cycle `at`,
    /// while the next instruction is at `pc`. Earlier requests of the prefetch unit come first.
    pub fn data(&mut self, address: u32, at: u64, pc: u32) -> u64 {
        if self.may_reach_next_line(pc, at) {
            return self.data_behind_line(address, at, pc);
        }
        self.flash.data(address, at)
    }

    #[inline(never)]
    fn data_behind_line(&mut self, address: u32, at: u64, pc: u32) -> u64 {
        if self.reaches_two_lines {
            return self.data_in_order(address, at, pc);
        }
        if let Some(at) = self.next_line_address_cycle(pc, at) {
            self.fetch_from_line(at);
        }
        self.flash.data(address, at)
    }

    /// Reads an exception's vector over the I-Code bus, requested in cycle `at`. Returns the cycle
    /// of its arrival.
    pub fn vector(&mut self, address: u32, pc: u32, at: u64) -> u64 {
        self.run_ahead_to(pc, at);
        let at = at.max(self.bus_free);
        if let Some(buffer) = self.flash.buffer.as_mut().filter(|_| address < CODE_END) {
            self.bus_free = buffer.instruction(address, at);
            return self.bus_free;
        }
        self.bus_free = if self.is_in_line(address) || address >= CODE_END {
            at + 1
        } else {
            self.read_line(address, at)
        };
        self.bus_free
    }

    pub fn restart(&mut self, target: u32, at: u64) {
        self.next = target & !(WORD_BYTES - 1);
        self.bus_free = self.bus_free.max(at);
        self.room[..WORDS_KEPT].fill(0);
    }

    /// A debugger has moved the PC. The buffer is emptied unless it holds the word there.
    pub fn moved(&mut self, pc: u32) {
        let kept = self.next.wrapping_sub((BUFFER_WORDS + 1) * WORD_BYTES);
        if pc.wrapping_sub(kept) > (BUFFER_WORDS + 2) * WORD_BYTES {
            self.next = BEFORE_ALL;
        }
    }

    pub fn shape(&self) -> FetchShape {
        (self.next, self.line, self.flash.shape())
    }

    /// Visits every cycle remembered here. That of [`Slot::Nowhere`] in `room` has no effect, but a
    /// snapshot contains it.
    pub fn each_moment(&mut self, mut visit: impl FnMut(&mut u64)) {
        visit(&mut self.bus_free);
        visit(&mut self.issued);
        self.arrival[..WORDS_KEPT].iter_mut().for_each(&mut visit);
        self.room.iter_mut().for_each(&mut visit);
        self.flash.each_moment(visit);
    }

    /// Takes over FLASH_ACR.
    pub fn configure(&mut self, access_control: u32) {
        if access_control != self.flash.access_control() {
            self.flash.configure(access_control);
        }
    }

    /// Fetches the next word. If the buffer is empty, fetches the word at `pc` first.
    #[inline(always)]
    fn fetch_for(&mut self, pc: u32, now: u64) {
        let at = self.next_address_cycle();
        if self.is_in_line(self.next) {
            self.fetched(at + 1);
        } else if self.next == BEFORE_ALL {
            self.fetch_first(pc, now);
        } else {
            self.fetch_from_line(at);
        }
    }

    #[cold]
    #[inline(never)]
    fn fetch_first(&mut self, pc: u32, now: u64) {
        self.restart(pc, now);
        self.fetch_next();
    }

    #[inline(never)]
    fn fetch_another(&mut self) {
        self.fetch_next();
    }

    #[inline(always)]
    fn fetch_next(&mut self) {
        let at = self.next_address_cycle();
        if self.is_in_line(self.next) {
            self.fetched(at + 1);
        } else {
            self.fetch_from_line(at);
        }
    }

    /// Code in SRAM comes without wait states.
    #[inline(never)]
    fn fetch_from_line(&mut self, at: u64) {
        let word = self.next;
        if word >= CODE_END {
            return self.fetched(at + 1);
        }
        if self.flash.buffer.is_some() {
            return self.fetch_from_buffer(at);
        }
        let arrival = self.read_line(word, at);
        self.fetched(arrival);
    }

    /// The cycle in which the line at `address` arrives, which is the current one from then on.
    #[inline(always)]
    fn read_line(&mut self, address: u32, at: u64) -> u64 {
        let start = address & !(self.line_bytes - 1);
        self.line = Line {
            start,
            end: start.wrapping_add(self.line_bytes),
        };
        self.flash.instruction_line(address, at)
    }

    #[cold]
    #[inline(never)]
    fn fetch_from_buffer(&mut self, at: u64) {
        let word = self.next;
        let buffer = self.flash.buffer.as_mut();
        let arrival = buffer.map_or(at + 1, |buffer| buffer.instruction(word, at));
        self.fetched(arrival);
    }

    #[cold]
    #[inline(never)]
    fn branch_in_order(&mut self, target: u32, fall_through: u32, at: u64) {
        self.run_ahead_to(fall_through, at);
        self.restart(target, at);
    }

    #[cold]
    #[inline(never)]
    fn data_in_order(&mut self, address: u32, at: u64, pc: u32) -> u64 {
        self.run_ahead_to(pc, at);
        self.flash.data(address, at)
    }

    #[inline(always)]
    fn fetched(&mut self, arrival: u64) {
        self.arrival[slot(self.next)] = arrival;
        self.bus_free = arrival;
        self.next = self.next.wrapping_add(WORD_BYTES);
    }

    /// The bus takes an address while it delivers the word before. The buffer has room when the
    /// word three before has left it: when its last half is decoded, or, if the instruction before
    /// holds it in the decoder, when it executes (docs/reference/timing.md says why).
    #[inline(always)]
    fn next_address_cycle(&self) -> u64 {
        self.bus_free.max(self.room[slot(self.next)])
    }

    #[inline(always)]
    fn is_in_line(&self, address: u32) -> bool {
        address.wrapping_sub(self.line.start) < self.line_bytes
    }

    /// Whether the unit could have requested a word of the next line before cycle `before`, while
    /// the next instruction is at `pc`.
    ///
    /// Only such requests must be computed in order. A word of the current line delays nothing, and
    /// arrives in the same cycle whenever that is computed.
    #[inline(always)]
    fn may_reach_next_line(&self, pc: u32, before: u64) -> bool {
        pc.wrapping_add((BUFFER_WORDS - 1) * WORD_BYTES) >= self.line.end
            && self.room[slot(self.line.end)] < before
    }

    /// The cycle in which the address of the next line's first word is on the bus. `None` if that
    /// is not before cycle `before`.
    #[inline(always)]
    fn next_line_address_cycle(&mut self, pc: u32, before: u64) -> Option<u64> {
        if !self.has_room(buffer_end(pc)) {
            return None;
        }
        let first = self.line.end;
        while self.next <= first {
            let at = self.next_address_cycle();
            if at >= before {
                return None;
            }
            if self.next == first {
                return Some(at);
            }
            self.fetched(at + 1);
        }
        None
    }

    /// Whether the buffer has room for the words up to `end`. Not if the PC has already moved
    /// elsewhere.
    fn has_room(&self, end: u32) -> bool {
        end.wrapping_sub(self.next) <= BUFFER_WORDS * WORD_BYTES
    }

    /// Fetches the words that the unit requests before cycle `before`, while the next instruction is
    /// at `pc`.
    fn run_ahead_to(&mut self, pc: u32, before: u64) {
        let end = buffer_end(pc);
        if self.has_room(end) {
            self.run_ahead(end, before);
        }
    }

    /// Fetches the words before `end` that the unit requests before cycle `before`.
    fn run_ahead(&mut self, end: u32, before: u64) {
        while self.next < end && self.next_address_cycle() < before {
            self.fetch_next();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::decode::Kind;
    use crate::model::FlashPort;
    use crate::random::Random;

    fn behind(flash_port: FlashPort) -> Model {
        Model {
            flash_port,
            ..Model::default()
        }
    }

    fn op(pc: u32, size: u8) -> Op {
        let (arrives, leaves) = Fetch::slots(pc, size);
        Op {
            size,
            arrives,
            leaves,
            ..Op::new(Kind::Undecoded)
        }
    }

    fn issue(fetch: &mut Fetch, pc: u32, size: u8, now: u64) -> (u64, u64) {
        let op = op(pc, size);
        let start = fetch.issue(pc, pc + u32::from(size), &op, now);
        (start, fetch.decoded(&op))
    }

    #[test]
    fn a_moved_pc_is_fetched_anew_unless_its_word_is_still_there() {
        let mut fetch = Fetch::of(behind(FlashPort::Art));
        let code = CODE_END; // without wait states: address, word, decoding, execution
        assert_eq!(issue(&mut fetch, code, 4, 10).0, 13);
        fetch.moved(code + 0x100);
        assert_eq!(issue(&mut fetch, code + 0x100, 4, 20).0, 23);
        fetch.moved(code + 0x100);
        assert_eq!(issue(&mut fetch, code + 0x100, 4, 30).0, 30);
        fetch.moved(code);
        assert_eq!(issue(&mut fetch, code, 4, 40).0, 43);
    }

    /// The same unit, word by word. Before anything else happens it has fetched all that it could
    /// fetch by then. Words are known by number.
    struct WordByWord {
        next: u32,
        bus_free: u64,
        arrival: HashMap<u32, u64>,
        left: HashMap<u32, u64>,
        issued: u64,
        /// Its number.
        line: u32,
        flash: Flash,
    }

    impl WordByWord {
        fn address_cycle(&self) -> u64 {
            let left = self.left.get(&(self.next - 3)).copied();
            self.bus_free.max(left.unwrap_or(0))
        }

        fn read(&mut self, word: u32, at: u64) -> u64 {
            let line = 4 * word / self.flash.line_bytes();
            if line == self.line {
                return at + 1;
            }
            self.line = line;
            self.flash.instruction_line(4 * word, at)
        }

        fn fetch(&mut self) {
            self.bus_free = self.read(self.next, self.address_cycle());
            self.arrival.insert(self.next, self.bus_free);
            self.next += 1;
        }

        fn run_ahead(&mut self, pc: u32, before: u64) {
            while self.next < pc / 4 + 3 && self.address_cycle() < before {
                self.fetch();
            }
        }

        /// An instruction enters the decoder when its last word is there and the one before it
        /// executes. It executes in the next cycle, or is held until the core is free.
        fn issue(&mut self, pc: u32, size: u8, now: u64) -> (u64, u64) {
            let end = pc + u32::from(size);
            while 4 * self.next < end {
                self.fetch();
            }
            let fetched = self.arrival[&((end - 1) / 4)] + 1;
            let enters = fetched.max(self.issued);
            let start = now.max(enters + 1);
            let held = start > enters + 1;
            self.leave(pc, size, if held { start } else { enters });
            self.issued = start;
            (start, fetched + 1)
        }

        fn leave(&mut self, pc: u32, size: u8, at: u64) {
            if pc + u32::from(size) >= (pc & !3) + 4 {
                self.left.insert(pc / 4, at);
            }
        }

        /// The instruction issued last began a cycle earlier, as if nothing had held it.
        fn advance(&mut self, pc: u32, size: u8) {
            self.issued -= 1;
            self.leave(pc, size, self.issued - 1);
        }

        fn restart(&mut self, target: u32, at: u64) {
            self.next = target / 4;
            self.bus_free = self.bus_free.max(at);
            self.left.clear();
        }

        fn vector(&mut self, address: u32, pc: u32, at: u64) -> u64 {
            self.run_ahead(pc, at);
            self.bus_free = self.read(address / 4, at.max(self.bus_free));
            self.bus_free
        }
    }

    /// Runs a random program of 1 KiB on both units: it executes, loads, branches and is
    /// interrupted.
    fn side_by_side(port: FlashPort, access_control: u32, random: &mut Random) {
        const CODE: u32 = 0x0800_0000;
        let (mut fetch, mut flash) = (Fetch::of(behind(port)), Flash::of(port));
        fetch.configure(access_control);
        flash.configure(access_control);
        let mut words = WordByWord {
            next: CODE / 4,
            bus_free: 0,
            arrival: HashMap::new(),
            left: HashMap::new(),
            issued: 0,
            line: u32::MAX,
            flash,
        };
        let mut pc = CODE;
        let (mut cycle, mut previous) = (10, 0);
        words.restart(pc, cycle);
        for step in 0..4_000 {
            let size = if random.below(3) == 0 { 4 } else { 2 };
            let issued = issue(&mut fetch, pc, size, cycle);
            let expected = words.issue(pc, size, cycle);
            assert_eq!(issued, expected, "{access_control:#x}, step {step}");
            let (mut start, decoded) = issued;
            let next = pc + u32::from(size);
            let does = random.below(10);
            if does < 4 && start > decoded && start > previous + 1 {
                fetch.advance(&op(pc, size));
                words.advance(pc, size);
                start -= 1;
            }
            previous = start;
            cycle = start + 1;
            if does < 2 {
                let address = CODE + random.below(0x400);
                words.run_ahead(next, start);
                let arrival = words.flash.data(address, start);
                assert_eq!(fetch.data(address, start, next), arrival, "step {step}");
                cycle = arrival + 1 + u64::from(random.below(3));
            }
            pc = next;
            if does == 9 || pc >= CODE + 0x400 {
                let target = CODE + 2 * random.below(0x200);
                // A branch is resolved when it is decoded, or at either end of its execution. A load
                // of the PC is resolved when its data is there.
                let at = match does {
                    0 | 1 => cycle,
                    _ => start - 1 + u64::from(random.below(3)),
                };
                words.run_ahead(next, at);
                words.restart(target, at);
                fetch.branch(target, next, at);
                pc = target;
            }
            if random.below(100) == 0 {
                let arrival = words.vector(CODE + 4, pc, cycle);
                assert_eq!(fetch.vector(CODE + 4, pc, cycle), arrival, "step {step}");
                pc = CODE + 2 * random.below(0x200);
                words.restart(pc, arrival);
                fetch.restart(pc, arrival);
            }
        }
    }

    #[test]
    fn what_is_worked_out_late_is_what_happened_word_by_word() {
        let mut random = Random(1);
        for access_control in [0x000, 0x002, 0x102, 0x202, 0x602, 0x702, 0x705] {
            side_by_side(FlashPort::Art, access_control, &mut random);
        }
        for access_control in [0x000, 0x001, 0x101, 0x004, 0x104, 0x204, 0x604, 0x704] {
            side_by_side(FlashPort::Art64, access_control, &mut random);
        }
    }
}
