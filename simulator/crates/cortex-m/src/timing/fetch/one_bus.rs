//! How a core with one bus for code and data fetches: a Cortex-M0 in three stages (ARM DDI 0432C, 2.1),
//! a Cortex-M0+ in two (ARM DDI 0484C, 2.1).
//!
//! It fetches words, of two instructions each. The next word is asked for when the first instruction
//! of a word is decoded: then it is there in time without wait states, whatever the instructions
//! are, as the manual's table knows no places. A word of which only the second half is executed asks
//! for its successor at once. This is chosen; no document describes it.

use super::{slot, Fetch, BEFORE_ALL, CODE_END, WORD_BYTES};
use crate::decode::{Kind, Op};

impl Fetch {
    /// From a word's address on the bus to the execution of its first instruction.
    pub fn fetch_cycles(&self) -> u64 {
        1 + self.decode_cycles
    }

    /// The cycle in which the instruction from `pc` to `end` executes, if the core is free from
    /// `now` on; and from when the bus takes the address of its data.
    pub fn issue_on_one_bus(&mut self, pc: u32, end: u32, op: &Op, now: u64) -> (u64, u64) {
        // A branch asks for its target in the last of its own cycles, before the refill.
        if self.next == BEFORE_ALL || pc != self.follows {
            self.restart(pc, now.saturating_sub(self.fetch_cycles()));
        }
        self.follows = end;
        while (self.next as i32) < end as i32 {
            self.fetch_next();
        }
        let start = now.max(self.halves_decoded(pc, op));
        let after = ((end - 1) | (WORD_BYTES - 1)).wrapping_add(1);
        if pc & 2 == 0 || op.size == 4 {
            self.room[slot(after)] = start - 1;
        }
        if self.next == after && self.next_address_cycle() < start {
            self.fetch_next();
        }
        let data = self.bus_free.max(start);
        if matches!(op.kind, Kind::Memory(_) | Kind::Multiple(_)) {
            self.bus_free = data + u64::from(op.cycles) - 1;
        }
        (start, data)
    }

    /// When the first half of the instruction could execute. The second half of a wide one is decoded
    /// a cycle later: none of them takes fewer than three.
    fn halves_decoded(&self, pc: u32, op: &Op) -> u64 {
        let decoded = |slot: usize| self.arrival[slot] + self.decode_cycles;
        let last = decoded(op.arrives as usize);
        decoded(slot(pc)).max(last - u64::from(op.size == 4))
    }

    /// The cycle in which data in flash arrives, requested in cycle `at`.
    pub fn data_on_one_bus(&mut self, address: u32, at: u64) -> u64 {
        let arrival = self.flash.data(address, at);
        self.bus_free = self.bus_free.max(arrival);
        arrival
    }

    /// How long a read at `address` waits if nothing else is under way.
    pub fn wait_cycles(&self, address: u32) -> u64 {
        if address < CODE_END {
            self.flash.read_cycles() - 1
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::decode::decode_for;
    use crate::model::{CoreKind, FlashPort, Model};
    use crate::timing::{base_cycles, Fetch};

    const CODE: u32 = 0x0800_0000;

    const F0: Model = Model {
        flash_port: FlashPort::Prefetch32x3,
        ..CoreKind::M0.model()
    };
    const G0: Model = Model {
        flash_port: FlashPort::Art64Small,
        ..CoreKind::M0Plus.model()
    };

    /// Runs these instructions one after the other. Returns the cycle in which each executes.
    fn cycles(model: Model, access_control: u32, place: u32, opcodes: &[u32]) -> Vec<u64> {
        let mut fetch = Fetch::of(model);
        fetch.configure(access_control);
        let (mut pc, mut now) = (CODE + place, 100);
        let mut run = |opcode: &u32| {
            let mut op = decode_for(model.kind, *opcode, *opcode > 0xFFFF, pc).unwrap();
            op.cycles = base_cycles(model.kind, &op);
            (op.arrives, op.leaves) = Fetch::slots(pc, op.size);
            let end = pc + u32::from(op.size);
            let (start, data) = fetch.issue_on_one_bus(pc, end, &op, now);
            let start = if op.cycles == 2 { data } else { start };
            (pc, now) = (end, start + u64::from(op.cycles));
            start
        };
        opcodes.iter().map(&mut run).collect()
    }

    const NOP: u32 = 0xBF00;
    const LDR: u32 = 0x6808;
    const DSB: u32 = 0xF3BF_8F4F;

    /// DDI 0432C and DDI 0484C, tables 3-1: their cycles hold at any place.
    #[test]
    fn without_wait_states_only_the_table_counts() {
        let code = [NOP, LDR, LDR, NOP, NOP, NOP, DSB, LDR, NOP, LDR, NOP];
        for (model, barrier) in [(F0, 4), (G0, 3)] {
            let table = [1, 2, 2, 1, 1, 1, barrier, 2, 1, 2, 1];
            for place in [0, 2] {
                let starts = cycles(model, 0, place, &code);
                let taken: Vec<u64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
                assert_eq!(taken, table[..10], "{model:?} place {place}");
            }
        }
    }

    /// A line of four instructions in three cycles: prefetch keeps up with two wait states, as the next
    /// line is read while one executes.
    #[test]
    fn a_line_of_64_bits_keeps_up_with_two_wait_states() {
        let took = |access_control| {
            let starts = cycles(G0, access_control, 0, &[NOP; 41]);
            starts[40] - starts[20]
        };
        assert_eq!(took(0x102), 20);
        assert!(took(0x002) > 20);
    }

    /// A word of two instructions in two cycles: prefetch keeps up, and without it each word waits.
    #[test]
    fn prefetch_keeps_up_with_one_wait_state() {
        let code = [NOP; 21];
        let took = |access_control| {
            let starts = cycles(F0, access_control, 0, &code);
            starts[20] - starts[0]
        };
        assert_eq!(took(0x00), 20);
        assert_eq!(took(0x11), 20);
        assert_eq!(
            took(0x01),
            30,
            "a word: two cycles, and the address after the first half"
        );
    }
}
