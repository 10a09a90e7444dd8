//! Skips iterations of busy waits: loops that poll a register and change nothing but the time.
//!
//! A program that polls goes round its loop until a peripheral's next event. From the second
//! iteration on, each one leaves everything as the one before did, only later by the same number of
//! cycles. When the core sees that, it adds the iteration's cycles and instructions to its counts
//! without executing it. It does so for all whole iterations before the next event. Counts, edges
//! and memory end up as if every iteration had been executed.
//!
//! An iteration can be skipped if all of this holds:
//!
//! - It stores nothing.
//! - It reads only memory, and registers that read the same until the bus's next event
//!   ([`Bus::steadiness`](crate::bus::Bus::steadiness)).
//! - It leaves registers, flags and timing as it found them.
//!
//! Code that does anything else in an iteration reports it by [`BusyWait::disturb`].

use super::registers::Flags;
use super::timing::{FetchShape, LoadStorePairsShape};
use super::Core;
use crate::bus::Steadiness;

/// Longer loops are never skipped.
const LONGEST_BYTES: u32 = 256;
/// A cycle that the timing remembers has no effect on an iteration if it lies at least this far
/// before it. The timing compares remembered cycles with those of addresses, and the first address
/// of an iteration is on the bus at most two cycles before it.
const LONG_AGO_CYCLES: u64 = 8;
/// After this many unequal iterations in a row the loop is left alone. If what came before the loop
/// were the reason, it would be long past by then.
const MOST_UNLIKE_ITERATIONS: u32 = 32;
/// Room for this many remembered cycles.
const MOMENTS: usize = 19;

/// The loop that the core is in.
#[derive(Clone, Default)]
pub struct BusyWait {
    /// The target of its backward branch.
    target: u32,
    /// Since the target was last reached, something happened that a skipped iteration cannot
    /// repeat.
    disturbed: bool,
    /// The registers at the last backward branch. A loop that changes them is at work.
    registers: [u32; 16],
    /// Iterations in a row that kept the registers and still were not equal.
    unlike_iterations: u32,
    /// The core must compare iterations before the next instruction.
    due: bool,
    /// Two reads that lie a multiple of this apart wait equally long. A power of two.
    period_cycles: u64,
    /// From this cycle on, a register may read something else.
    until_cycle: u64,
    before: Option<State>,
    skipped_instructions: u64,
}

/// The parts of the core that an undisturbed iteration can change, at its start.
#[derive(Clone)]
struct State {
    cycles: u64,
    instructions: u64,
    /// Equal at the start of each iteration.
    shape: Shape,
    /// Remembered cycles: each is later by one iteration, or long past.
    moments: [u64; MOMENTS],
    /// Numbers of instructions: each is higher by one iteration's count, or the same.
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

/// What one iteration costs.
struct Iteration {
    cycles: u64,
    instructions: u64,
}

impl BusyWait {
    /// The current iteration does something that cannot be skipped.
    #[inline(always)]
    pub fn disturb(&mut self) {
        self.disturbed = true;
    }

    /// The current iteration has read a register. `steadiness` is `None` if it may read something
    /// else next time.
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

    /// Iterations before and after this point must not be compared.
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

    /// The core branches back to `target`. True if iterations must now be compared.
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

/// Loops that work usually change one of the first registers, so compare those first.
#[inline(always)]
fn same(before: &[u32; 16], now: &[u32; 16]) -> bool {
    before.first_chunk::<4>() == now.first_chunk::<4>() && before[4..15] == now[4..15]
}

impl Core {
    /// Of the instructions counted, those of skipped iterations.
    pub fn skipped_instructions(&self) -> u64 {
        self.fast.busy_wait.skipped_instructions
    }

    #[inline(always)]
    pub(super) fn note_turn(&mut self, target: u32) {
        if self.registers.pc.wrapping_sub(target) < LONGEST_BYTES
            && self.fast.busy_wait.turn(target, &self.registers.general)
        {
            self.leave_fast_loop();
        }
    }

    /// Call at the start of an iteration. If the last one equals the one before it, skips all whole
    /// iterations before the horizon.
    pub(super) fn skip_iterations(&mut self) {
        let now = self.iteration_start();
        let Some(before) = &self.fast.busy_wait.before else {
            self.fast.busy_wait.before = Some(now);
            return;
        };
        match before.iteration_to(&now) {
            Some(iteration) if iteration.cycles % self.fast.busy_wait.period_cycles == 0 => {
                let (moments, numbers) = (before.moments, before.numbers);
                self.repeat(&iteration, moments, numbers);
            }
            _ => {
                self.fast.busy_wait.unlike_iterations += 1;
                self.fast.busy_wait.before = Some(now);
            }
        }
    }

    /// `moments` and `numbers` are those at the start of the last iteration.
    fn repeat(&mut self, iteration: &Iteration, moments: [u64; MOMENTS], numbers: [u64; 3]) {
        let end = self.fast.horizon.min(self.fast.busy_wait.until_cycle);
        let room_cycles = end.saturating_sub(self.time.cycles);
        let count = room_cycles / iteration.cycles;
        for (number, before) in self.time.pairs.numbers().into_iter().zip(numbers) {
            *number += count * (*number - before);
        }
        let mut moments = moments.into_iter();
        self.each_moment(|moment| {
            let before = moments.next().expect("a state has a moment for each");
            *moment += count * (*moment - before);
        });
        self.time.cycles += count * iteration.cycles;
        self.time.instructions += count * iteration.instructions;
        self.fast.busy_wait.skipped_instructions += count * iteration.instructions;
        self.fast.busy_wait.forget();
    }

    fn iteration_start(&mut self) -> State {
        let mut moments = [0; MOMENTS];
        let mut places = moments.iter_mut();
        self.each_moment(|moment| {
            *places.next().expect("there is a place for each moment") = *moment;
        });
        let numbers = self.time.pairs.numbers().map(|number| *number);
        let mut registers = [0; 15];
        registers.copy_from_slice(&self.registers.general[..15]);
        State {
            cycles: self.time.cycles,
            instructions: self.time.instructions,
            shape: Shape {
                registers,
                flags: self.registers.flags,
                itstate: self.registers.itstate,
                exclusive: self.registers.exclusive,
                late_registers: self.time.late_registers,
                previous_pc: self.time.previous_pc,
                fetch: self.time.fetch.shape(),
                pairs: self.time.pairs.shape(),
            },
            moments,
            numbers,
        }
    }

    /// Visits every cycle that the core remembers and that an iteration can change.
    fn each_moment(&mut self, mut visit: impl FnMut(&mut u64)) {
        visit(&mut self.time.data_free);
        self.time.fetch.each_moment(visit);
    }
}

impl State {
    /// The cost of the iteration from here to `now`, if it changed nothing but the time.
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
