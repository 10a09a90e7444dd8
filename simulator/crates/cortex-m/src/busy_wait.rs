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

use crate::bus::Steadiness;
use crate::registers::{Flags, Registers};
use crate::timing::{Iteration, Pipeline, Start};

/// Longer loops are never skipped.
const LONGEST_BYTES: u32 = 256;
/// After this many unequal iterations in a row the loop is left alone. If what came before the loop
/// were the reason, it would be long past by then.
const MOST_UNLIKE_ITERATIONS: u32 = 32;

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
    registers: [u32; 15],
    flags: Flags,
    itstate: u8,
    exclusive: bool,
    timing: Start,
}

impl BusyWait {
    /// The current iteration does something that cannot be skipped.
    #[inline(always)]
    pub fn disturb(&mut self) {
        self.disturbed = true;
    }

    /// The current iteration has read a register. `steadiness` is `None` if it may read something
    /// else next time. Unless memory `waits`, all reads take equally long.
    #[inline(always)]
    pub fn read(&mut self, waits: bool, steadiness: impl FnOnce() -> Option<Steadiness>) {
        if self.disturbed {
            return;
        }
        match steadiness() {
            Some(steady) => {
                if waits {
                    self.period_cycles = self.period_cycles.max(steady.period_cycles);
                }
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
    pub fn turn(&mut self, target: u32, registers: &Registers) -> bool {
        if registers.pc.wrapping_sub(target) >= LONGEST_BYTES {
            return false;
        }
        let registers = &registers.general;
        if self.disturbed || target != self.target {
            self.begin(target);
        } else {
            self.due =
                self.unlike_iterations < MOST_UNLIKE_ITERATIONS && same(&self.registers, registers);
        }
        self.registers = *registers;
        self.due
    }

    /// Call at the start of an iteration. If the last one equals the one before it, skips all whole
    /// iterations before the horizon.
    pub fn skip(&mut self, registers: &Registers, pipeline: &mut Pipeline, horizon: u64) {
        let now = State::of(registers, pipeline);
        let Some(before) = &self.before else {
            self.before = Some(now);
            return;
        };
        match before.iteration_to(&now) {
            Some(iteration) if iteration.cycles % self.period_cycles == 0 => {
                let end = horizon.min(self.until_cycle);
                let count = end.saturating_sub(pipeline.cycles()) / iteration.cycles;
                pipeline.repeat(count, &before.timing, &iteration);
                self.skipped_instructions += count * iteration.instructions;
                self.forget();
            }
            _ => {
                self.unlike_iterations += 1;
                self.before = Some(now);
            }
        }
    }

    /// Of the instructions counted, those of skipped iterations.
    pub fn skipped_instructions(&self) -> u64 {
        self.skipped_instructions
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

impl State {
    fn of(registers: &Registers, pipeline: &mut Pipeline) -> State {
        let mut general = [0; 15];
        general.copy_from_slice(&registers.general[..15]);
        State {
            registers: general,
            flags: registers.flags,
            itstate: registers.itstate,
            exclusive: registers.exclusive,
            timing: pipeline.start(),
        }
    }

    /// The cost of the iteration from here to `now`, if it changed nothing but the time.
    fn iteration_to(&self, now: &State) -> Option<Iteration> {
        let alike = self.registers == now.registers
            && self.flags == now.flags
            && (self.itstate, self.exclusive) == (now.itstate, now.exclusive);
        alike
            .then(|| self.timing.iteration_to(&now.timing))
            .flatten()
    }
}
