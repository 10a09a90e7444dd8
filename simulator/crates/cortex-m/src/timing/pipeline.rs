//! The core in time: where it is, and what decides how long the next instruction takes. An iteration of a
//! loop is looked at as a whole: whether the next one would cost the same, and what many of them cost.

use super::cores::{overlaps_indexed, refill_cycles};
use super::fetch::{Fetch, FetchShape};
use super::load_store_pairs::LoadStorePairs;
use super::table::{unaligned_cycles, RETURN_ADDRESS_CYCLES};
use crate::decode::{Index, Op};
use crate::memory_map::is_flash;
use crate::model::{CoreKind, Model, Timing};
use serde::{Deserialize, Serialize};

/// The port for I/O has this much room.
const IO_PORT_BYTES: u32 = 0x1000_0000;

/// A cycle that the timing remembers has no effect on an iteration if it lies at least this far
/// before it. The timing compares remembered cycles with those of addresses, and the first address
/// of an iteration is on the bus at most two cycles before it.
const LONG_AGO_CYCLES: u64 = 8;
/// Room for this many remembered cycles.
const MOMENTS: usize = 19;

/// When the address of a branch's target is known, and so on the bus, relative to the branch's
/// execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// In the cycle before: B, BL and BX LR.
    Decode,
    /// In its first cycle: CBZ, BX, BLX, MOV PC, ADD PC.
    Execute,
    /// When the instruction's other cycles are over: loads of the PC, table branches, ISB.
    End,
}

impl Resolved {
    /// The cycle in which the target's address is on the bus, for a branch that executes from
    /// `start` on and takes `cycles`.
    pub fn address_cycle(self, start: u64, cycles: u8) -> u64 {
        match self {
            Resolved::Decode => start.saturating_sub(1),
            Resolved::Execute => start,
            Resolved::End => start + u64::from(cycles),
        }
    }
}

/// Data is on the bus one cycle after its instruction issues.
#[derive(Clone, Serialize, Deserialize)]
pub struct Pipeline {
    timing: Timing,
    /// What a taken branch costs where nothing waits.
    refill_cycles: u64,
    /// Core cycles since power-up.
    cycles: u64,
    instructions: u64,
    fetch: Fetch,
    pairs: LoadStorePairs,
    /// Registers that the last instruction has not yet written to the register bank.
    late_registers: u16,
    /// Address of the instruction executed last.
    previous_pc: u32,
    /// The data bus takes its next address in this cycle: the write buffer holds one store.
    data_free: u64,
}

/// The pipeline at the start of an iteration.
#[derive(Clone)]
pub struct Start {
    cycles: u64,
    instructions: u64,
    /// Equal at the start of each iteration: late registers, the PC before, and the units' shapes.
    shape: (u16, u32, FetchShape, (u8, u8)),
    /// Remembered cycles: each is later by one iteration, or long past.
    moments: [u64; MOMENTS],
    /// Numbers of instructions: each is higher by one iteration's count, or the same.
    numbers: [u64; 3],
}

/// What one iteration costs.
pub struct Iteration {
    pub cycles: u64,
    pub instructions: u64,
}

impl Pipeline {
    pub fn new(core: Model, timing: Timing) -> Pipeline {
        Pipeline {
            timing: timing.of(core.kind),
            refill_cycles: refill_cycles(core.kind),
            cycles: 0,
            instructions: 0,
            fetch: Fetch::of(core),
            pairs: LoadStorePairs::new(),
            late_registers: 0,
            previous_pc: 0,
            data_free: 0,
        }
    }

    /// After a reset the counts go on.
    pub fn reset(&mut self, core: Model) {
        *self = Pipeline {
            cycles: self.cycles,
            instructions: self.instructions,
            ..Pipeline::new(core, self.timing)
        };
    }

    #[inline(always)]
    pub fn timing(&self) -> Timing {
        self.timing
    }

    /// Core cycles since power-up.
    #[inline(always)]
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// The address of the instruction executed last.
    pub fn previous_pc(&self) -> u32 {
        self.previous_pc
    }

    /// Until when the last store is on its way, if it still is.
    pub fn storing_until(&self) -> Option<u64> {
        (self.data_free > self.cycles).then_some(self.data_free)
    }

    /// Takes over FLASH_ACR.
    pub fn configure(&mut self, access_control: u32) {
        self.fetch.configure(access_control);
    }

    /// A debugger has moved the PC.
    pub fn moved(&mut self, pc: u32) {
        self.fetch.moved(pc);
    }

    #[inline(always)]
    pub fn spend(&mut self, cycles: u64) {
        self.cycles += cycles;
    }

    /// A cycle in the past changes nothing.
    #[inline(always)]
    pub fn wait_until(&mut self, cycle: u64) {
        self.cycles = self.cycles.max(cycle);
    }

    /// What follows goes on beside what was counted since `cycle`.
    pub fn go_back_to(&mut self, cycle: u64) {
        self.cycles = cycle;
    }

    /// Issues the instruction from `pc` to `next_pc`: waits until it is decoded and the registers of
    /// its address are ready.
    #[inline(always)]
    pub fn issue<const NUCLEO: bool>(&mut self, op: &Op, pc: u32, next_pc: u32) {
        if NUCLEO {
            let late = op.address_registers & self.late_registers != 0;
            self.late_registers = op.late_registers;
            let free = self.cycles + u64::from(late);
            self.cycles = self.fetch.issue(pc, next_pc, op, free);
        } else if self.timing == Timing::OneBus {
            // Its data waits for its only bus.
            let issued = self.fetch.issue_on_one_bus(pc, next_pc, op, self.cycles);
            (self.cycles, self.data_free) = issued;
        }
        self.instructions += 1;
    }

    /// The instruction at `pc`, issued last, is over.
    #[inline(always)]
    pub fn retire(&mut self, pc: u32, cycles: u8) {
        self.cycles += u64::from(cycles);
        self.previous_pc = pc;
    }

    /// The instruction that was issued last did not come to its end.
    #[inline(always)]
    pub fn abandon(&mut self) {
        self.instructions -= 1;
    }

    /// The cycle in which `op` could begin, as far as registers decide.
    pub fn ready(&self, op: &Op) -> u64 {
        let waits = op.address_registers & self.late_registers != 0;
        self.cycles + u64::from(self.timing.is_nucleo() && waits)
    }

    /// The first cycle in which the current instruction could execute if the core were free.
    pub fn decoded(&self, op: &Op) -> u64 {
        if self.timing.is_nucleo() {
            self.fetch.decoded(op)
        } else {
            0
        }
    }

    /// The cycle in which the instruction at `pc`, the last that executed, did so. It could not
    /// before `began`.
    pub fn executed_in(&self, began: u64, pc: u32, size: u8) -> u64 {
        if !self.timing.is_nucleo() {
            return began;
        }
        let (arrives, _) = Fetch::slots(pc, size);
        began.max(self.fetch.decoded_at(arrives))
    }

    /// Lets the current instruction begin a cycle earlier, beside the one before it, if it has been
    /// decoded by then.
    #[inline(always)]
    fn overlap(&mut self, op: &Op) {
        if self.cycles > self.decoded(op) {
            self.cycles -= 1;
            if self.timing.is_nucleo() {
                self.fetch.advance(op);
            }
        }
    }

    /// A load or store right after a load may overlap with it. Then the access happens a cycle
    /// earlier.
    #[inline(always)]
    pub fn overlap_with_load(&mut self, op: &Op, address: u32) {
        let registers = op.address_registers;
        if self
            .pairs
            .overlaps(self.instructions - 1, address, registers)
        {
            self.overlap(op);
        }
    }

    /// As [`Pipeline::overlap_with_load`], of a store with a constant offset.
    #[inline(always)]
    pub fn overlap_store_with_load(&mut self, op: &Op, address: u32) {
        if self.timing.is_nucleo() {
            self.overlap_with_load(op, address);
        }
    }

    /// A pre- or post-indexed access may overlap with nothing.
    #[inline(always)]
    pub fn note_index(&mut self, op: &Op, kind: CoreKind) {
        if op.index != Index::Offset && !overlaps_indexed(kind) {
            self.pairs.end_chain();
        }
    }

    #[inline(always)]
    pub fn wait_behind_store(&mut self) {
        if self.pairs.follows_store(self.instructions - 1) {
            self.cycles += 1;
        }
    }

    /// The current instruction has loaded `register` from `address`.
    #[inline(always)]
    pub fn loaded(&mut self, register: u8, address: u32) {
        self.pairs.loaded(self.instructions, register, address);
    }

    /// The current instruction was a store with a register offset.
    #[inline(always)]
    pub fn stored_in_two(&mut self) {
        self.pairs.stored_in_two(self.instructions);
    }

    /// A NOP may cost nothing.
    pub fn absorb_nop(&mut self, op: &Op) {
        if self.timing.is_nucleo() && self.pairs.absorbs_nop(self.instructions - 1) {
            self.overlap(op);
        }
    }

    /// IT, at `pc`, costs nothing if it is folded onto a 16-bit instruction before it (TRM table 3-1,
    /// note d). Such an instruction begins two bytes before.
    pub fn fold_it(&mut self, op: &Op, pc: u32) {
        if self.timing.is_nucleo() && self.previous_pc.wrapping_add(2) == pc {
            self.overlap(op);
        }
    }

    /// DMB and DSB wait for the write buffer.
    pub fn drain(&mut self) {
        if self.timing.is_nucleo() {
            self.wait_until(self.data_free.saturating_sub(1));
        }
    }

    /// Pays for the refill of a branch to `target`, which takes `cycles` itself. Otherwise the program
    /// would have gone on at `fall_through`.
    #[inline(always)]
    pub fn branch(&mut self, target: u32, fall_through: u32, resolved: Resolved, cycles: u8) {
        if self.timing.is_nucleo() {
            let at = resolved.address_cycle(self.cycles, cycles);
            self.fetch.branch(target, fall_through, at);
        } else {
            self.cycles += self.refill_cycles;
        }
    }

    /// The cycle in which transfer number `transfer` of the current instruction is on the bus.
    #[inline(always)]
    pub fn access_cycle(&self, transfer: u64) -> u64 {
        self.cycles + 1 + transfer
    }

    /// Waits until the write buffer is empty.
    #[inline(always)]
    pub fn wait_for_store(&mut self) {
        self.cycles = self.cycles.max(self.data_free);
    }

    /// Waits until the data bus takes an address: the write buffer may still hold a store.
    #[inline(always)]
    pub fn wait_for_data_bus(&mut self, transfer: u64) {
        let address_cycle = self.cycles + transfer;
        if address_cycle < self.data_free {
            self.cycles += self.data_free - address_cycle;
        }
    }

    /// A load waits for the bus's wait cycles.
    #[inline(always)]
    pub fn wait_for_load(&mut self, wait_cycles: u32) {
        if self.timing.waits() {
            self.cycles += u64::from(wait_cycles);
        }
    }

    /// A store does not wait; the next access does (TRM 3.3.3: the write buffer).
    #[inline(always)]
    pub fn buffer_store(&mut self, transfer: u64, wait_cycles: u32) {
        if self.timing.is_nucleo() {
            self.data_free = self.cycles + transfer + 1 + u64::from(wait_cycles);
            self.pairs.stored(self.instructions);
        } else if self.timing.waits() {
            // A core with one bus has no write buffer.
            self.cycles += u64::from(wait_cycles);
        }
    }

    /// The same for a store of `words` words in a row.
    #[inline(always)]
    pub fn buffer_run(&mut self, words: u32) {
        if self.timing.is_nucleo() {
            self.data_free = self.cycles + u64::from(words);
            self.pairs.stored(self.instructions);
        }
    }

    /// Whether `words` transfers, from now on, are over by cycle `horizon`.
    #[inline(always)]
    pub fn runs_through(&self, words: u32, horizon: u64) -> bool {
        self.cycles.max(self.data_free) + u64::from(words) <= horizon
    }

    /// Data in the Code region comes from flash, over the D-Code bus. The next instruction is at
    /// `next_pc`.
    #[inline(always)]
    pub fn wait_for_flash(&mut self, address: u32, transfer: u64, next_pc: u32) {
        if is_flash(address) && self.timing.waits() {
            if !self.timing.is_nucleo() {
                return self.wait_for_only_bus(address, transfer);
            }
            let at = self.cycles + transfer;
            let arrival = self.fetch.data(address, at, next_pc);
            self.cycles += arrival - (at + 1);
        }
    }

    /// The same on a core whose fetches share the bus.
    #[cold]
    #[inline(never)]
    fn wait_for_only_bus(&mut self, address: u32, transfer: u64) {
        let at = self.cycles + transfer;
        self.cycles += self.fetch.data_on_one_bus(address, at) - (at + 1);
    }

    /// An access across its natural boundary takes more transfers.
    pub fn wait_for_unaligned(&mut self, address: u32, bytes: u32) {
        self.cycles += unaligned_cycles(address, bytes);
    }

    /// A core with one bus may have a port for I/O at `address`. There a load or a store is done in its
    /// first cycle, and takes no other (DDI 0484C, table 3-1): it begins by that much earlier.
    #[inline(always)]
    pub fn hurry_to_port(&mut self, address: u32, kind: CoreKind) -> u64 {
        let begins = |start: u32| address.wrapping_sub(start) < IO_PORT_BYTES;
        if self.timing == Timing::OneBus && kind.facts().io_port.is_some_and(begins) {
            self.cycles -= 1;
            return 1;
        }
        0
    }

    /// When the handler begins whose vector is at `address`, if it could in cycle `ready` without
    /// wait states; and when its code is asked for. The program is at `pc`.
    ///
    /// The vector comes over the I-Code bus, while the system bus does the stacking (TRM 2.3.1,
    /// "ICode memory interface"). A core with one bus reads it over that.
    pub fn handler_cycles(&mut self, address: u32, ready: u64, pc: u32) -> (u64, u64) {
        match self.timing {
            Timing::OneBus => {
                let handler = ready + self.fetch.wait_cycles(address);
                (handler, handler - self.fetch.fetch_cycles())
            }
            Timing::Nucleo => (ready, 1 + self.fetch.vector(address, pc, self.cycles)),
            Timing::Ideal => (ready, self.cycles + 2),
        }
    }

    /// A handler begins at `pc`, whose code is asked for in cycle `at`.
    pub fn enter(&mut self, pc: u32, at: u64) {
        self.pairs.forget();
        self.late_registers = 0;
        self.fetch.restart(pc, at);
    }

    /// The program goes on at `pc`, after `cycles` more. The return began in cycle `began`.
    pub fn resume(&mut self, pc: u32, began: u64, cycles: u64) {
        self.cycles += cycles;
        let address_cycle = match self.timing {
            Timing::OneBus => self.cycles - self.fetch.fetch_cycles(),
            _ => began + RETURN_ADDRESS_CYCLES,
        };
        self.fetch.restart(pc, address_cycle);
    }

    /// The pipeline at the start of an iteration of a loop.
    pub fn start(&mut self) -> Start {
        let mut moments = [0; MOMENTS];
        let mut places = moments.iter_mut();
        self.each_moment(|moment| {
            *places.next().expect("there is a place for each moment") = *moment;
        });
        Start {
            cycles: self.cycles,
            instructions: self.instructions,
            shape: (
                self.late_registers,
                self.previous_pc,
                self.fetch.shape(),
                self.pairs.shape(),
            ),
            moments,
            numbers: self.pairs.numbers().map(|number| *number),
        }
    }

    /// Lets `count` more iterations pass, each as the one that began at `start` and is over.
    pub fn repeat(&mut self, count: u64, start: &Start, iteration: &Iteration) {
        for (number, before) in self.pairs.numbers().into_iter().zip(start.numbers) {
            *number += count * (*number - before);
        }
        let mut moments = start.moments.into_iter();
        self.each_moment(|moment| {
            let before = moments.next().expect("a state has a moment for each");
            *moment += count * (*moment - before);
        });
        self.cycles += count * iteration.cycles;
        self.instructions += count * iteration.instructions;
    }

    /// Visits every cycle that the core remembers and that an iteration can change.
    fn each_moment(&mut self, mut visit: impl FnMut(&mut u64)) {
        visit(&mut self.data_free);
        self.fetch.each_moment(visit);
    }
}

impl Start {
    /// The cost of the iteration from here to `now`, if it changed nothing but the time.
    pub fn iteration_to(&self, now: &Start) -> Option<Iteration> {
        let iteration = Iteration {
            cycles: now.cycles - self.cycles,
            instructions: now.instructions - self.instructions,
        };
        let still = |(before, after): (&u64, &u64)| {
            *after == before + iteration.cycles
                || after == before && before + LONG_AGO_CYCLES <= self.cycles
        };
        let counted = |(before, after): (&u64, &u64)| {
            after == before || *after == before + iteration.instructions
        };
        let alike = self.shape == now.shape
            && self.moments.iter().zip(&now.moments).all(still)
            && self.numbers.iter().zip(&now.numbers).all(counted);
        alike.then_some(iteration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Kind;

    fn pipeline(timing: Timing) -> Pipeline {
        let mut pipeline = Pipeline::new(Model::default(), timing);
        pipeline.spend(10);
        pipeline
    }

    #[test]
    fn only_the_next_access_waits_for_a_store() {
        for (timing, storing_until, waited_until) in
            [(Timing::Nucleo, Some(16), 16), (Timing::Ideal, None, 10)]
        {
            let mut pipeline = pipeline(timing);
            pipeline.buffer_store(0, 5);
            assert_eq!(pipeline.storing_until(), storing_until);
            assert_eq!(pipeline.cycles(), 10);
            pipeline.wait_for_data_bus(0);
            assert_eq!(pipeline.cycles(), waited_until);
        }
    }

    #[test]
    fn the_second_of_two_loads_begins_a_cycle_earlier() {
        let op = Op {
            address_registers: 1 << 1,
            ..Op::new(Kind::Undecoded)
        };
        for (loaded, began) in [(0, 9), (1, 10)] {
            let mut pipeline = pipeline(Timing::Ideal);
            pipeline.issue::<false>(&op, 0x100, 0x102);
            pipeline.loaded(loaded, 0x2000_0000);
            pipeline.issue::<false>(&op, 0x102, 0x104);
            pipeline.overlap_with_load(&op, 0x2000_0004);
            assert_eq!(pipeline.cycles(), began, "R{loaded}");
        }
    }

    #[test]
    fn iterations_that_repeat_cost_what_executing_them_costs() {
        let op = Op::new(Kind::Undecoded);
        let turn = |pipeline: &mut Pipeline| {
            pipeline.issue::<false>(&op, 0x100, 0x102);
            pipeline.retire(0x100, 3);
        };
        let mut skipping = pipeline(Timing::Ideal);
        turn(&mut skipping);
        let start = skipping.start();
        turn(&mut skipping);
        let mut executing = skipping.clone();
        let iteration = start.iteration_to(&skipping.start()).unwrap();
        skipping.repeat(5, &start, &iteration);
        (0..5).for_each(|_| turn(&mut executing));
        assert_eq!(
            (skipping.cycles(), skipping.instructions()),
            (executing.cycles(), executing.instructions())
        );
        executing.issue::<false>(&op, 0x200, 0x202);
        executing.retire(0x200, 1);
        assert!(start.iteration_to(&executing.start()).is_none());
    }
}
