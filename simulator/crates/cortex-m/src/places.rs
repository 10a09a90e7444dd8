//! Places: instructions of which something is noted when they execute, that they did or the whole
//! passage; or before which the core returns. It costs the program nothing. Only these instructions
//! leave the fast loop.

use crate::bus::Bus;
use crate::decode::Op;
use crate::registers::Registers;
use crate::timing::Pipeline;
use crate::trap::Exec;
use serde::{Deserialize, Serialize};

/// One execution of a marked instruction. An instruction that an IT block skips does not count. One
/// that an interrupt cut off and that went on afterwards counts once, from where it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The index from [`Core::mark`](crate::Core::mark).
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
    /// The word at the address of [`Core::tell_task`](crate::Core::tell_task).
    pub task: Option<u32>,
}

/// What is done when the instruction at an address executes.
#[derive(Clone, Serialize, Deserialize)]
struct Place {
    address: u32,
    /// Counted, also of those that an IT block skips.
    executions: u64,
    #[serde(skip)]
    mark: Option<Mark>,
    /// The core returns before it.
    #[serde(skip)]
    returns: bool,
}

/// Passages are noted.
#[derive(Clone, Copy)]
struct Mark {
    index: usize,
    /// Only the first one is.
    once: bool,
}

#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Places {
    places: Vec<Place>,
    /// Where the program keeps the current task.
    #[serde(skip)]
    task_address: Option<u32>,
    #[serde(skip)]
    passages: Vec<Passage>,
    /// Address and beginning of passages that an interrupt cut off.
    #[serde(skip)]
    cut_off: Vec<(u32, Passage)>,
    /// The place and the cycle of the last return.
    #[serde(skip)]
    returned: Option<(usize, u64)>,
}

impl Places {
    /// The index of the place at `address`, from now on. Panics beyond 254 places.
    pub fn add(&mut self, address: u32) -> usize {
        let address = address & !1;
        self.at(address).unwrap_or_else(|| {
            assert!(
                self.places.len() < usize::from(Op::NOTHING) - 1,
                "at most 254 addresses can be counted"
            );
            self.places.push(Place {
                address,
                executions: 0,
                mark: None,
                returns: false,
            });
            self.places.len() - 1
        })
    }

    /// The index of the place at `address`, if one is there.
    pub fn at(&self, address: u32) -> Option<usize> {
        self.places
            .iter()
            .position(|place| place.address == address)
    }

    pub fn clear(&mut self) {
        self.places.clear();
    }

    pub fn executions(&self, place: usize) -> u64 {
        self.places[place].executions
    }

    /// The instruction there has executed.
    pub fn count(&mut self, place: usize) {
        self.places[place].executions += 1;
    }

    pub fn mark(&mut self, place: usize, index: usize, once: bool) {
        self.places[place].mark.get_or_insert(Mark { index, once });
    }

    pub fn return_before(&mut self, place: usize) {
        self.places[place].returns = true;
    }

    /// Whether the core returns now, in `cycle`, before the instruction of a place. It does so once:
    /// when it runs on from there, it executes the instruction.
    pub fn returns(&mut self, place: usize, cycle: u64) -> bool {
        let now = Some((place, cycle));
        self.places[place].returns && std::mem::replace(&mut self.returned, now) != now
    }

    pub fn tell_task(&mut self, address: u32) {
        self.task_address = Some(address);
    }

    /// Passages since the last call, in the order in which they ended.
    pub fn take_passages(&mut self) -> Vec<Passage> {
        std::mem::take(&mut self.passages)
    }

    /// A passage of the instruction at the PC begins now. `None` if it is not marked, or skipped.
    pub fn begun<B: Bus>(
        &self,
        bus: &mut B,
        op: &Op,
        registers: &Registers,
        pipeline: &Pipeline,
    ) -> Option<Passage> {
        let mark = self.places[op.place()].mark?;
        registers.condition_passed().then(|| Passage {
            mark: mark.index,
            cycle: pipeline.ready(op),
            end_cycle: 0,
            exception: registers.ipsr,
            sp: registers.general[13],
            end_sp: 0,
            next_pc: 0,
            task: self.task(bus),
        })
    }

    fn task<B: Bus>(&self, bus: &mut B) -> Option<u32> {
        let bytes = bus.plain_bytes::<4>(self.task_address?)?;
        Some(u32::from_le_bytes(*bytes))
    }

    /// Notes the passage, if its instruction is over. `continued` says that it had begun before. True
    /// if its place is forgotten from now on: its only passage is over.
    pub fn end(
        &mut self,
        mut passage: Passage,
        (op, continued): (&Op, bool),
        result: &Exec<u32>,
        registers: &Registers,
        pipeline: &Pipeline,
    ) -> bool {
        /// No instruction has an odd address.
        const NOWHERE: u32 = 1;
        let place = &mut self.places[op.place()];
        let address = place.address;
        passage.cycle = passage.cycle.max(pipeline.decoded(op));
        if continued {
            let same = |(at, begun): &(u32, Passage)| {
                *at == address && begun.exception == passage.exception && begun.task == passage.task
            };
            if let Some(place) = self.cut_off.iter().rposition(same) {
                let (_, begun) = self.cut_off.remove(place);
                (passage.cycle, passage.sp) = (begun.cycle, begun.sp);
            }
        }
        match result {
            Ok(next_pc) => {
                self.passages.push(Passage {
                    end_cycle: pipeline.cycles(),
                    end_sp: registers.general[13],
                    next_pc: *next_pc,
                    ..passage
                });
                let over = place.mark.take_if(|mark| mark.once).is_some();
                if over {
                    place.address = NOWHERE;
                }
                over
            }
            Err(_) => {
                if registers.will_continue() {
                    self.cut_off.push((address, passage));
                }
                false
            }
        }
    }
}
