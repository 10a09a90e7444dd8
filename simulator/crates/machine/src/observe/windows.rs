//! Executions between the edges of a pin. One row for each of its pulses.
//!
//! The counters are read after the instruction that made the edge. So that instruction counts to
//! the time before the edge.

use cortex_m::Core;
use std::fmt::Write;
use stm32::edges::{Edge, Pin};

/// What a counter counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counted {
    /// The sum of these execution counters of the core, by index.
    Places(Vec<usize>),
    EveryInstruction,
}

/// A counter and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    pub name: String,
    pub counted: Counted,
}

impl Counter {
    pub fn executions(&self, core: &Core) -> u64 {
        match &self.counted {
            Counted::Places(watches) => watches.iter().map(|&watch| core.executions(watch)).sum(),
            Counted::EveryInstruction => core.instructions(),
        }
    }
}

/// Counts the instructions that are executed while a pin is high.
pub struct Gate {
    pin: Pin,
    /// Those of the pulses that have ended.
    before: u64,
    /// The core's count when the pin rose.
    open_at: Option<u64>,
}

impl Gate {
    pub fn new(pin: Pin) -> Gate {
        Gate {
            pin,
            before: 0,
            open_at: None,
        }
    }

    fn see(&mut self, core: &Core, edge: &Edge) {
        if edge.pin == self.pin {
            self.before = self.executions(core);
            self.open_at = edge.level.then(|| core.instructions());
        }
    }

    fn executions(&self, core: &Core) -> u64 {
        let now = core.instructions();
        self.before + self.open_at.map_or(0, |then| now - then)
    }
}

/// A pulse that has not ended: its first cycle, and the counts then.
struct Open {
    start_cycle: u64,
    counts: Vec<u64>,
}

pub struct Windows {
    pin: Pin,
    counters: Vec<Counter>,
    gate: Option<Gate>,
    open: Option<Open>,
    next_index: u64,
    rows: String,
}

impl Windows {
    pub fn new(pin: Pin, counters: Vec<Counter>) -> Windows {
        Windows {
            pin,
            counters,
            gate: None,
            open: None,
            next_index: 0,
            rows: String::new(),
        }
    }

    /// Adds a last column, `instructions`: those that are executed while `pin` is high.
    pub fn with_instructions_while(mut self, pin: Pin) -> Windows {
        self.gate = Some(Gate::new(pin));
        self
    }

    /// The pins whose edges must be seen.
    pub fn pins(&self) -> impl Iterator<Item = Pin> + '_ {
        std::iter::once(self.pin).chain(self.gate.as_ref().map(|gate| gate.pin))
    }

    /// The table's first line.
    pub fn header(&self) -> String {
        let names = self.counters.iter().map(|counter| counter.name.as_str());
        let columns = ["window", "start_cycle", "end_cycle"];
        columns
            .into_iter()
            .chain(names)
            .chain(self.gate.as_ref().map(|_| "instructions"))
            .collect::<Vec<_>>()
            .join(",")
            + "\n"
    }

    /// Rows of the windows that ended since the last call.
    pub fn take_rows(&mut self) -> String {
        std::mem::take(&mut self.rows)
    }

    /// Handles edges that have just happened.
    pub fn see(&mut self, core: &Core, edges: &[Edge]) {
        for edge in edges {
            if let Some(gate) = &mut self.gate {
                gate.see(core, edge);
            }
            if edge.pin != self.pin {
                continue;
            }
            if edge.level {
                self.open = Some(Open {
                    start_cycle: edge.cycle,
                    counts: self.counts(core),
                });
            } else if let Some(open) = self.open.take() {
                self.close(&open, edge.cycle, core);
            }
        }
    }

    fn close(&mut self, open: &Open, end_cycle: u64, core: &Core) {
        let mut row = format!("{},{},{end_cycle}", self.next_index, open.start_cycle);
        for (now, then) in self.counts(core).iter().zip(&open.counts) {
            write!(row, ",{}", now - then).expect("a string takes everything");
        }
        self.rows += &row;
        self.rows.push('\n');
        self.next_index += 1;
    }

    fn counts(&self, core: &Core) -> Vec<u64> {
        let counters = self.counters.iter();
        let gate = self.gate.iter().map(|gate| gate.executions(core));
        counters
            .map(|counter| counter.executions(core))
            .chain(gate)
            .collect()
    }
}
