//! Latencies of one interrupt, pended at many cycles of one run that goes on undisturbed.

use super::latency::{ask, Answer, Question};
use crate::Machine;
use cortex_m::Stop;

/// The run is never further than this behind the cycle that is asked about.
const FAR_CYCLES: u64 = 1_000;
/// The run is stopped so far before it: an instruction may end later than the run is told to.
const MARGIN_CYCLES: u64 = 200;
/// How far it runs before what it recorded is dropped.
const SLICE_CYCLES: u64 = 1 << 20;

/// The run.
pub struct Course {
    run: Machine,
    /// The machine before it was last moved: it may have been moved too far.
    before: Machine,
}

impl Course {
    pub fn new(run: Machine) -> Course {
        Course {
            before: run.clone(),
            run,
        }
    }

    /// The answer for a pend in cycle `at`. Cycles of successive calls must not go down.
    pub fn ask(&mut self, at: u64, question: &Question) -> Result<Answer, Stop> {
        if self.run.cycles() + FAR_CYCLES < at {
            self.go_to(at)?;
        }
        let base = if self.run.cycles() <= at {
            &self.run
        } else {
            &self.before
        };
        Ok(ask(base, at, question))
    }

    /// Runs to shortly before `cycle`.
    pub fn go_to(&mut self, cycle: u64) -> Result<(), Stop> {
        let end = cycle.saturating_sub(MARGIN_CYCLES);
        while self.run.cycles() < end {
            self.before = self.run.clone();
            let slice_end = end.min(self.run.cycles() + SLICE_CYCLES);
            while self.run.cycles() < slice_end {
                self.run.run_to_event(slice_end)?;
            }
            drop_records(&mut self.run);
        }
        Ok(())
    }

    pub fn machine(&self) -> &Machine {
        &self.run
    }
}

/// Forgets what nobody will read, so that copies stay small.
fn drop_records(machine: &mut Machine) {
    machine.take_edges();
    machine.take_transmitted();
}

/// The cycle in which the program first uses `exception`: enables the interrupt, or takes an
/// exception that cannot be disabled. `None` if it does not before `end`. Otherwise the machine stands
/// shortly before that cycle.
pub fn first_use(machine: &mut Machine, exception: u8, end: u64) -> Result<Option<u64>, Stop> {
    let before = machine.clone();
    while machine.cycles() < end && !is_used(machine, exception) {
        machine.run_to_event(end)?;
    }
    drop_records(machine);
    if !is_used(machine, exception) {
        return Ok(None);
    }
    *machine = before;
    loop {
        let before = machine.clone();
        let chunk_end = machine.cycles() + FAR_CYCLES;
        while machine.cycles() < chunk_end && !is_used(machine, exception) {
            machine.run_one(chunk_end)?;
        }
        if is_used(machine, exception) {
            let cycle = machine.cycles();
            *machine = before;
            return Ok(Some(cycle));
        }
    }
}

fn is_used(machine: &Machine, exception: u8) -> bool {
    machine.core().nvic().used() >> exception & 1 != 0
}
