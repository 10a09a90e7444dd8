//! Executions between the edges of a pin. One row for each of its pulses.
//!
//! The counters are read after the instruction that made the edge. So that instruction counts to
//! the time before the edge.

use crate::core::Core;
use crate::edges::{Edge, Pin};
use std::fmt::Write;

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

/// A pulse that has not ended: its first cycle, and the counts then.
struct Open {
    start_cycle: u64,
    counts: Vec<u64>,
}

pub struct Windows {
    pin: Pin,
    counters: Vec<Counter>,
    open: Option<Open>,
    next_index: u64,
    rows: String,
}

impl Windows {
    pub fn new(pin: Pin, counters: Vec<Counter>) -> Windows {
        Windows {
            pin,
            counters,
            open: None,
            next_index: 0,
            rows: String::new(),
        }
    }

    pub fn pin(&self) -> Pin {
        self.pin
    }

    /// The table's first line.
    pub fn header(&self) -> String {
        let names = self.counters.iter().map(|counter| counter.name.as_str());
        let columns = ["window", "start_cycle", "end_cycle"];
        columns
            .into_iter()
            .chain(names)
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
        let pin = self.pin;
        for edge in edges.iter().filter(|edge| edge.pin == pin) {
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
        counters.map(|counter| counter.executions(core)).collect()
    }
}
