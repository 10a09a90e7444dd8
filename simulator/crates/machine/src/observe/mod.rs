//! Observes a run: counts between edges, conditions that end it, what holds interrupts off, and its
//! last instructions.
//!
//! An observer changes only how often the machine returns, never what it does. A run without
//! observers does not pass through here.

pub mod condition;
pub mod latency;
pub mod masks;
pub mod notes;
pub mod stacks;
pub mod standstill;
pub mod stretch;
pub mod sweep;
pub mod trace;
pub mod windows;

use crate::{Limit, Machine};
use condition::{Condition, LastStep};
use cortex_m::Stop;
use masks::Masks;
use stm32::memory::Memory;
use trace::Trace;
use windows::Windows;

#[derive(Default)]
pub struct Observer {
    pub windows: Option<Windows>,
    pub conditions: Vec<Condition>,
    pub trace: Option<Trace>,
    pub masks: Option<Masks>,
}

impl Observer {
    pub fn idle(&self) -> bool {
        self.windows.is_none()
            && self.conditions.is_empty()
            && self.trace.is_none()
            && self.masks.is_none()
    }

    /// Tells the machine at which edges, changes and places it must return.
    pub fn attach(&self, machine: &mut Machine) {
        let windows = self.windows.iter().flat_map(Windows::pins);
        let conditions = self.conditions.iter().filter_map(Condition::pin);
        machine.observe(&windows.chain(conditions).collect::<Vec<_>>());
        let places = self.conditions.iter().filter_map(Condition::place);
        for address in places.chain(self.trace.iter().filter_map(Trace::place)) {
            for address in Memory::executed_from(address) {
                machine.core_mut().return_before(address);
            }
        }
        if let Some(masks) = &self.masks {
            masks.attach(machine);
        }
    }

    /// As [`Machine::run_slice`], but ends when a condition is met. Returns what happened, in
    /// words.
    pub fn run_slice(
        &mut self,
        machine: &mut Machine,
        limit: Limit,
        slice_cycles: u64,
    ) -> Result<Option<String>, Stop> {
        let changes = machine.timebase().changes();
        let end = limit
            .cycle(machine.timebase())
            .min(machine.cycles().saturating_add(slice_cycles));
        while machine.cycles() < end
            && machine.timebase().changes() == changes
            && !machine.core().held()
        {
            if let Some(met) = self.look_ahead(machine) {
                return Ok(Some(met));
            }
            if let Some(met) = self.advance(machine, end)? {
                return Ok(Some(met));
            }
        }
        Ok(None)
    }

    /// Checks conditions on the next instruction.
    fn look_ahead(&self, machine: &Machine) -> Option<String> {
        let mut conditions = self.conditions.iter();
        conditions.find_map(|condition| condition.met_before_next(machine))
    }

    fn advance(&mut self, machine: &mut Machine, end: u64) -> Result<Option<String>, Stop> {
        let until = end.min(self.deadline(machine.cycles()));
        let edges_before = machine.edges().len();
        let pc = machine.core().pc();
        let each = self.looks_at_each_instruction(machine);
        if let Some(trace) = &mut self.trace {
            trace.before(machine);
        }
        let ran = if each {
            machine.run_one(until)
        } else {
            machine.run_to_event(until)
        };
        if let Some(trace) = &mut self.trace {
            trace.after(machine);
        }
        if let Some(masks) = &mut self.masks {
            masks.see(machine);
        }
        ran?;
        let edges = &machine.edges()[edges_before..];
        if let Some(windows) = &mut self.windows {
            windows.see(machine.core(), edges);
        }
        let step = LastStep { machine, edges, pc };
        let mut conditions = self.conditions.iter_mut();
        Ok(conditions.find_map(|condition| condition.met_by(&step)))
    }

    fn looks_at_each_instruction(&self, machine: &Machine) -> bool {
        let traced = self.trace.as_ref();
        traced.is_some_and(|trace| trace.looks(machine))
            || self.conditions.iter().any(Condition::each_instruction)
    }

    /// The cycle at which the observer must look again, at the latest.
    fn deadline(&self, now: u64) -> u64 {
        let due = self.conditions.iter().map(Condition::deadline);
        let trace = self.trace.iter().map(Trace::deadline);
        let trace = trace.filter(|due| *due > now);
        due.chain(trace).fold(u64::MAX, u64::min)
    }
}
