//! Skipping laps of a loop that waits: laps that change nothing but the time.
//!
//! A program that polls a register goes round a loop until a peripheral's next event. From the second lap on each leaves
//! everything as the one before it did, later by the same number of cycles. Once that is seen, the core repeats the lap's
//! effect on its counts without executing it, up to the last whole lap before the next event. Counts, edges and memory come out as
//! if every lap had been executed.
//!
//! A lap qualifies if it stores nothing, reads only memory and registers that keep still until the bus's next event
//! ([`Bus::steadiness`](crate::bus::Bus::steadiness)), and leaves registers, flags and timing as it found them. Whatever else
//! it does, it says so by [`BusyWait::disturb`].

use super::registers::Flags;
use super::timing::{FetchShape, LoadStorePairsShape};
use super::Core;
use crate::bus::Steadiness;

/// Loops longer than this are not looked at.
const LONGEST_BYTES: u32 = 256;
/// How long before a lap, in cycles, a moment must lie to have no say in it. The timing asks whether something is over by the
/// cycle of an address, and a lap's first address is out at most two cycles before it.
const LONG_AGO_CYCLES: u64 = 8;
/// After so many laps that were not alike the loop is left alone: by then what came before it is long ago.
const MOST_UNLIKE_ITERATIONS: u32 = 32;
/// At most so many moments are remembered.
const MOMENTS: usize = 16;

/// The loop that the core is in.
#[derive(Clone, Default)]
pub struct BusyWait {
    /// Where its backward branch leads.
    target: u32,
    /// Something happened since it was last reached that no skipped lap may do.
    disturbed: bool,
    /// The registers at the last turn: where they change, the loop is at work.
    registers: [u32; 16],
    /// Laps in a row that left the registers alone and yet were not alike.
    unlike_iterations: u32,
    /// A turn to be looked at before the next instruction.
    due: bool,
    /// Cycles at whose multiples reads wait equally long: a power of two.
    period_cycles: u64,
    /// The cycle from which on a read may give something else.
    until_cycle: u64,
    before: Option<State>,
    skipped_instructions: u64,
}

/// The core at the start of a lap, as far as an undisturbed one can change it.
#[derive(Clone)]
struct State {
    cycles: u64,
    instructions: u64,
    /// What is equal at the start of each lap.
    shape: Shape,
    /// Cycles that are either later by a lap or long past.
    moments: [u64; MOMENTS],
    /// Numbers of instructions that are either higher by a lap's or the same.
    numbers: [u64; 3],
}

#[derive(Clone, PartialEq, Eq)]
struct Shape {
    registers: [u32; 15],
    flags: Flags,
    itstate: u8,
    exclusive: bool,
    late_registers: u16,
    previous_pc: u32,
    fetch: FetchShape,
    pairs: LoadStorePairsShape,
}

/// What one lap takes.
struct Iteration {
    cycles: u64,
    instructions: u64,
}

impl BusyWait {
    /// The present lap does what cannot be skipped.
    #[inline(always)]
    pub fn disturb(&mut self) {
        self.disturbed = true;
    }

    /// The present lap has read a peripheral: one that keeps still for a while, or one that does not.
    #[inline(always)]
    pub fn read(&mut self, steadiness: impl FnOnce() -> Option<Steadiness>) {
        if self.disturbed {
            return;
        }
        match steadiness() {
            Some(steady) => {
                self.period_cycles = self.period_cycles.max(steady.period_cycles);
                self.until_cycle = self.until_cycle.min(steady.until_cycle);
            }
            None => self.disturbed = true,
        }
    }

    /// No lap goes across what now happens.
    pub fn forget(&mut self) {
        self.disturbed = true;
        self.due = false;
    }

    pub fn is_due(&self) -> bool {
        self.due
    }

    pub fn take_due(&mut self) -> bool {
        std::mem::take(&mut self.due)
    }

    /// The core branches back to `target`. True if the turn is to be looked at.
    #[inline(always)]
    fn turn(&mut self, target: u32, registers: &[u32; 16]) -> bool {
        if self.disturbed || target != self.target {
            self.begin(target);
        } else {
            self.due =
                self.unlike_iterations < MOST_UNLIKE_ITERATIONS && same(&self.registers, registers);
        }
        self.registers = *registers;
        self.due
    }

    fn begin(&mut self, target: u32) {
        self.target = target;
        self.disturbed = false;
        self.unlike_iterations = 0;
        self.period_cycles = 1;
        self.until_cycle = u64::MAX;
        self.before = None;
    }
}

/// Loops that work mostly change one of the first registers: comparing those is enough for them.
#[inline(always)]
fn same(before: &[u32; 16], now: &[u32; 16]) -> bool {
    before.first_chunk::<4>() == now.first_chunk::<4>() && before[4..15] == now[4..15]
}

impl Core {
    /// Instructions, of those counted, whose effect was repeated without executing them.
    pub fn skipped_instructions(&self) -> u64 {
        self.busy_wait.skipped_instructions
    }

    #[inline(always)]
    pub(super) fn note_turn(&mut self, target: u32) {
        if self.pc.wrapping_sub(target) < LONGEST_BYTES
            && self.busy_wait.turn(target, &self.registers)
        {
            self.leave_fast_loop();
        }
    }

    /// At the start of a lap that is to be looked at: skips what can be skipped before the horizon if it is like the one
    /// before.
    pub(super) fn skip_iterations(&mut self) {
        let now = self.iteration_start();
        let Some(before) = &self.busy_wait.before else {
            self.busy_wait.before = Some(now);
            return;
        };
        match before.iteration_to(&now) {
            Some(iteration) if iteration.cycles % self.busy_wait.period_cycles == 0 => {
                let (moments, numbers) = (before.moments, before.numbers);
                self.repeat(&iteration, moments, numbers);
            }
            _ => {
                self.busy_wait.unlike_iterations += 1;
                self.busy_wait.before = Some(now);
            }
        }
    }

    /// `moments` and `numbers` are those of a lap ago.
    fn repeat(&mut self, iteration: &Iteration, moments: [u64; MOMENTS], numbers: [u64; 3]) {
        let end = self.horizon.min(self.busy_wait.until_cycle);
        let room_cycles = end.saturating_sub(self.cycles);
        let count = room_cycles / iteration.cycles;
        for (number, before) in self.pairs.numbers().into_iter().zip(numbers) {
            *number += count * (*number - before);
        }
        let mut moments = moments.into_iter();
        self.each_moment(|moment| {
            let before = moments.next().expect("a state has a moment for each");
            *moment += count * (*moment - before);
        });
        self.cycles += count * iteration.cycles;
        self.instructions += count * iteration.instructions;
        self.busy_wait.skipped_instructions += count * iteration.instructions;
        self.busy_wait.forget();
    }

    fn iteration_start(&mut self) -> State {
        let mut moments = [0; MOMENTS];
        let mut places = moments.iter_mut();
        self.each_moment(|moment| {
            *places.next().expect("there is a place for each moment") = *moment;
        });
        let numbers = self.pairs.numbers().map(|number| *number);
        let mut registers = [0; 15];
        registers.copy_from_slice(&self.registers[..15]);
        State {
            cycles: self.cycles,
            instructions: self.instructions,
            shape: Shape {
                registers,
                flags: self.flags,
                itstate: self.itstate,
                exclusive: self.exclusive,
                late_registers: self.late_registers,
                previous_pc: self.previous_pc,
                fetch: self.fetch.shape(),
                pairs: self.pairs.shape(),
            },
            moments,
            numbers,
        }
    }

    /// Every cycle that the core remembers and a lap can change.
    fn each_moment(&mut self, mut visit: impl FnMut(&mut u64)) {
        visit(&mut self.data_free);
        self.fetch.each_moment(visit);
    }
}

impl State {
    /// What a lap takes, if the one from here to `now` changed nothing but the time.
    fn iteration_to(&self, now: &State) -> Option<Iteration> {
        let iteration = Iteration {
            cycles: now.cycles - self.cycles,
            instructions: now.instructions - self.instructions,
        };
        let still = |(before, after): (&u64, &u64)| {
            *after == before + iteration.cycles
                || after == before && before + LONG_AGO_CYCLES <= self.cycles
        };
        let alike = self.shape == now.shape
            && self.moments.iter().zip(&now.moments).all(still)
            && self
                .numbers
                .iter()
                .zip(&now.numbers)
                .all(|(before, after)| {
                    after == before || *after == before + iteration.instructions
                });
        alike.then_some(iteration)
    }
}
