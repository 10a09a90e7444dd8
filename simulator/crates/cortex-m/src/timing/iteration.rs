//! What an iteration of a loop leaves of the timing: whether the next one would cost the same, and what
//! many of them cost.

use super::{FetchShape, LoadStorePairsShape, Pipeline};

/// A cycle that the timing remembers has no effect on an iteration if it lies at least this far
/// before it. The timing compares remembered cycles with those of addresses, and the first address
/// of an iteration is on the bus at most two cycles before it.
const LONG_AGO_CYCLES: u64 = 8;
/// Room for this many remembered cycles.
const MOMENTS: usize = 19;

/// The pipeline at the start of an iteration.
#[derive(Clone)]
pub struct Start {
    cycles: u64,
    instructions: u64,
    /// Equal at the start of each iteration: late registers, the PC before, and the units' shapes.
    shape: (u16, u32, FetchShape, LoadStorePairsShape),
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
