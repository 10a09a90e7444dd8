//! Marks: instructions whose passages are noted. They cost the program nothing. Only marked
//! instructions leave the fast loop.

use super::decode::Op;
use super::trap::Exec;
use super::Core;
use crate::bus::Bus;

/// One execution of a marked instruction. An instruction that an IT block skips does not count. One
/// that an interrupt cut off and that went on afterwards counts once, from where it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The index from [`Core::mark`].
    pub mark: usize,
    /// The cycle in which it executes: fetched, decoded, its turn.
    pub cycle: u64,
    /// The cycle in which the next instruction can execute.
    pub end_cycle: u64,
    /// The exception that the core is in. 0 is Thread mode.
    pub exception: u8,
    pub sp: u32,
    /// SP after it.
    pub end_sp: u32,
    /// Where the program went.
    pub next_pc: u32,
    /// The word at the address of [`Core::tell_task`].
    pub task: Option<u32>,
}

/// An address that is marked, and the index that [`Core::mark`] gave for it.
#[derive(Clone, Copy)]
struct Mark {
    address: u32,
    index: usize,
    /// Only its first passage is noted.
    once: bool,
}

#[derive(Clone, Default)]
pub struct Marks {
    marks: Vec<Mark>,
    /// Where the program keeps the current task.
    task_address: Option<u32>,
    passages: Vec<Passage>,
    /// Address and beginning of passages that an interrupt cut off.
    cut_off: Vec<(u32, Passage)>,
}

impl Core {
    /// From now on, notes passages of the instruction at `address`, under `index`. Panics as
    /// [`Core::count_executions`] does.
    pub fn mark(&mut self, address: u32, index: usize) {
        self.mark_place(address, index, false);
    }

    /// As [`Core::mark`], but notes only the first passage. The instruction costs the host nothing
    /// from then on.
    pub fn mark_once(&mut self, address: u32, index: usize) {
        self.mark_place(address, index, true);
    }

    fn mark_place(&mut self, address: u32, index: usize, once: bool) {
        let address = address & !1;
        if !self.counts_executions(address) {
            self.count_executions(address);
        }
        let mark = Mark {
            address,
            index,
            once,
        };
        self.observers.marks.marks.push(mark);
    }

    /// A mark whose first passage is over goes.
    fn forget_mark(&mut self, address: u32) {
        let marks = &mut self.observers.marks.marks;
        let over = |mark: &Mark| mark.once && mark.address == address;
        if marks.iter().any(over) {
            marks.retain(|mark| !over(mark));
            self.stop_counting(address);
        }
    }

    /// Passages tell the word at this address of memory, too.
    pub fn tell_task(&mut self, address: u32) {
        self.observers.marks.task_address = Some(address);
    }

    /// Passages since the last call, in the order in which they ended.
    pub fn take_passages(&mut self) -> Vec<Passage> {
        std::mem::take(&mut self.observers.marks.passages)
    }

    /// A passage of the instruction at the PC begins now. `None` if it is not marked, or skipped.
    pub(super) fn begun_passage<B: Bus>(&self, bus: &mut B, op: &Op) -> Option<Passage> {
        let executed = self.registers.itstate & 0xF == 0
            || self.registers.flags.satisfy(self.registers.itstate >> 4);
        let mark = self
            .observers
            .marks
            .marks
            .iter()
            .find(|mark| mark.address == self.registers.pc)?;
        let waits = op.address_registers & self.time.late_registers != 0;
        executed.then(|| Passage {
            mark: mark.index,
            cycle: self.time.cycles + u64::from(self.time.model.is_nucleo() && waits),
            end_cycle: 0,
            exception: self.registers.ipsr,
            sp: self.registers.general[13],
            end_sp: 0,
            next_pc: 0,
            task: self.task(bus),
        })
    }

    fn task<B: Bus>(&self, bus: &mut B) -> Option<u32> {
        let bytes = bus.plain_bytes::<4>(self.observers.marks.task_address?)?;
        Some(u32::from_le_bytes(*bytes))
    }

    /// Notes the passage, if its instruction is over. `continued` says that it had begun before.
    pub(super) fn end_passage(
        &mut self,
        mut passage: Passage,
        (address, op): (u32, &Op),
        continued: bool,
        result: &Exec<u32>,
    ) {
        passage.cycle = passage.cycle.max(self.decoded(op));
        if continued {
            let cut_off = &mut self.observers.marks.cut_off;
            let same = |(at, begun): &(u32, Passage)| {
                *at == address && begun.exception == passage.exception && begun.task == passage.task
            };
            if let Some(place) = cut_off.iter().rposition(same) {
                let (_, begun) = cut_off.remove(place);
                (passage.cycle, passage.sp) = (begun.cycle, begun.sp);
            }
        }
        match result {
            Ok(next_pc) => {
                self.observers.marks.passages.push(Passage {
                    end_cycle: self.time.cycles,
                    end_sp: self.registers.general[13],
                    next_pc: *next_pc,
                    ..passage
                });
                self.forget_mark(address);
            }
            Err(_) if self.will_continue() => self.observers.marks.cut_off.push((address, passage)),
            Err(_) => {}
        }
    }

    /// Whether EPSR.ICI says that the instruction at the PC goes on from where it was cut off.
    pub(super) fn will_continue(&self) -> bool {
        self.registers.itstate != 0 && self.registers.itstate & 0xF == 0
    }
}
