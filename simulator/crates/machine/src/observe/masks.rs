//! A log of what holds interrupts off: one row for each change.

use super::stacks::{interrupted_pc, Stacks};
use crate::Machine;
use cortex_m::bus::Width;
use cortex_m::{Change, ExceptionFrame, Watched, What};
use std::fmt::Write;
use stm32::memory::Memory;

/// Where the program's kernel has its variables, if it has them: the scheduler is locked unless the
/// first is 0; the second points to the task that runs.
#[derive(Clone, Copy, Default)]
pub struct Kernel {
    pub scheduler_locked: Option<Watched>,
    pub current_task: Option<u32>,
}

pub struct Masks {
    kernel: Kernel,
    stacks: Option<Stacks>,
    rows: String,
}

impl Masks {
    pub const HEADER: &'static str = "cycle,what,value,pc,began,task,stack\n";

    pub fn new(kernel: Kernel, stacks: Option<Stacks>) -> Masks {
        Masks {
            kernel,
            stacks,
            rows: String::new(),
        }
    }

    /// From now on the machine returns after each change.
    pub fn attach(&self, machine: &mut Machine) {
        machine.core_mut().watch(self.kernel.scheduler_locked);
    }

    /// Takes the changes since the last call. Call it after each step of the machine.
    pub fn see(&mut self, machine: &mut Machine) {
        for change in machine.core_mut().take_changes() {
            self.row(machine.soc().memory(), &change);
        }
    }

    fn row(&mut self, memory: &Memory, change: &Change) {
        let pc = place(memory, change);
        let (cycle, what, value) = (change.cycle, name(change.what), change.value);
        let row = &mut self.rows;
        write!(row, "{cycle},{what},{value},{pc:#010x},").expect("a string takes everything");
        if let Some(began) = change.began {
            write!(row, "{began}").expect("a string takes everything");
        }
        row.push(',');
        let task = self.kernel.current_task;
        if let Some(task) = task.and_then(|address| memory.read(address, Width::Word)) {
            write!(row, "{task:#010x}").expect("a string takes everything");
        }
        row.push(',');
        if let Some(stacks) = &mut self.stacks {
            let stack = stacks.number(memory, pc, &change.context);
            write!(row, "{stack}").expect("a string takes everything");
        }
        row.push('\n');
    }

    /// Rows since the last call.
    pub fn take_rows(&mut self) -> String {
        std::mem::take(&mut self.rows)
    }

    /// Rows of `--mask-stacks` since the last call.
    pub fn take_stack_rows(&mut self) -> String {
        self.stacks
            .as_mut()
            .map_or(String::new(), Stacks::take_rows)
    }
}

/// The innermost address at a change. The code that a handler interrupted may be that of an earlier
/// exception (tail-chaining): only the frame tells.
fn place(memory: &Memory, change: &Change) -> u32 {
    match change.context.frame {
        Some(ExceptionFrame::Entered { exc_return }) => {
            interrupted_pc(memory, &change.context, exc_return).unwrap_or(change.pc)
        }
        _ => change.pc,
    }
}

fn name(what: What) -> &'static str {
    match what {
        What::Primask => "primask",
        What::Faultmask => "faultmask",
        What::Basepri => "basepri",
        What::Exception => "exception",
        What::Priority => "priority",
        What::Enabled => "enabled",
        What::Prigroup => "prigroup",
        What::Word => "scheduler",
        What::Sleep => "sleep",
        What::Reset => "reset",
    }
}
