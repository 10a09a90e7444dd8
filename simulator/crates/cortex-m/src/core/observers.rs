//! Who looks on: places, the watch, and the interrupt that the board itself pends. All but the interrupt change
//! no result.

use super::Core;
use crate::bus::Bus;
use crate::nvic::Hold;
use crate::places::Passage;
use crate::planned_interrupt::{Planned, Raised};
use crate::watch::{Change, View, Watch, Watched};

impl Core {
    /// Starts counting executions of the instruction at `address`. Returns the index for
    /// [`Core::executions`]. Instructions that an IT block skips count too. Panics beyond 254
    /// addresses.
    pub fn count_executions(&mut self, address: u32) -> usize {
        self.invalidate_code();
        self.observers.places.add(address)
    }

    pub fn executions(&self, index: usize) -> u64 {
        self.observers.places.executions(index)
    }

    /// Stops counting executions, and forgets the counts.
    pub fn clear_execution_counters(&mut self) {
        self.observers.places.clear();
        self.invalidate_code();
    }

    /// From now on, notes passages of the instruction at `address`, under `index`; or only the first one,
    /// and the instruction costs the host nothing from then on. Panics as [`Core::count_executions`] does.
    pub fn mark(&mut self, address: u32, index: usize, once: bool) {
        let place = self.count_executions(address);
        self.observers.places.mark(place, index, once);
    }

    /// From now on, [`Core::run`] returns before it executes the instruction at `address`. Panics as
    /// [`Core::count_executions`] does.
    pub fn return_before(&mut self, address: u32) {
        let place = self.count_executions(address);
        self.observers.places.return_before(place);
    }

    /// Whether it returns before the next instruction.
    pub(super) fn returns_here(&mut self) -> bool {
        let pc = self.registers.pc;
        let op = self.fast.code.get(pc);
        let places = &mut self.observers.places;
        let place = if op.undecoded() {
            places.at(pc)
        } else {
            (op.counter != 0).then(|| op.place())
        };
        let returns = place.is_some_and(|place| places.returns(place, self.pipeline.cycles()));
        if returns {
            self.attention = true;
            self.leave_fast_loop();
        }
        returns
    }

    /// Passages tell the word at this address of memory, too.
    pub fn tell_task(&mut self, address: u32) {
        self.observers.places.tell_task(address);
    }

    /// Passages since the last call, in the order in which they ended.
    pub fn take_passages(&mut self) -> Vec<Passage> {
        self.observers.places.take_passages()
    }

    /// Watches from now on, and a value in SRAM as well. The first changes say that the watch begins (a
    /// reset), and what differs from the state after a reset.
    pub fn watch(&mut self, word: Option<Watched>) {
        let after_reset = Core::of(self.model, self.pipeline.timing());
        let watch = Watch::begin(word, &after_reset.view(), &self.view());
        self.set_watch(Box::new(watch));
    }

    pub(super) fn set_watch(&mut self, watch: Box<Watch>) {
        if let Some(word) = watch.first_word() {
            // As if code were there: then stores leave the fast loop.
            self.fast.code.guard(word, 4);
        }
        self.observers.watch = Some(watch);
        self.leave_fast_loop();
    }

    /// The changes since the last call, in order. After a change [`Core::run`] returns.
    pub fn take_changes(&mut self) -> Vec<Change> {
        let watch = self.observers.watch.as_mut();
        watch.map_or(Vec::new(), |watch| watch.take_changes())
    }

    pub(super) fn view(&self) -> View<'_> {
        View {
            registers: &self.registers,
            nvic: &self.nvic,
            pipeline: &self.pipeline,
            asleep: self.asleep(),
        }
    }

    /// Lets the watch, if there is one, see the core.
    #[inline(always)]
    pub(super) fn watching(&mut self, see: impl FnOnce(&mut Watch, &View)) {
        if let Some(mut watch) = self.observers.watch.take() {
            see(&mut watch, &self.view());
            self.observers.watch = Some(watch);
        }
    }

    /// Looks for changes between two instructions. True if the machine must be told of some.
    #[inline(always)]
    pub(super) fn tells_changes<B: Bus>(&mut self, bus: &mut B) -> bool {
        let mut moved = None;
        let mut news = false;
        self.watching(|watch, now| {
            moved = watch.look(now, bus);
            news = watch.take_news();
        });
        if let Some(place) = moved {
            self.fast.code.guard(place, 4);
            self.leave_fast_loop();
        }
        news
    }

    /// Pends `exception` in `cycle`, which is not past. With a priority, enables it then.
    pub fn plan_interrupt(&mut self, exception: u8, cycle: u64, enable: Option<u8>) {
        self.observers.planned = Planned::at(cycle, exception, enable);
        self.leave_fast_loop();
    }

    pub fn planned_interrupt(&self) -> &Planned {
        &self.observers.planned
    }

    /// Where the masks that are set now were set.
    pub fn raised(&self) -> &Raised {
        &self.observers.raised
    }

    /// The cycle of the next exception that the core itself pends. NEVER: none.
    #[inline(always)]
    pub(super) fn next_own_event(&self) -> u64 {
        let systick = self.private.systick.next_expiry().unwrap_or(u64::MAX);
        systick.min(self.observers.planned.due())
    }

    /// Why `exception`, which is pending, is not taken now. `None`: it is.
    pub fn hold(&self, exception: u8) -> Option<Hold> {
        let entering = self.handling.entering.as_ref().map(|entry| entry.exception);
        self.nvic.hold(exception, entering)
    }
}
