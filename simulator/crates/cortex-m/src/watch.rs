//! Watches what holds interrupts off: masks, priorities, enables, exceptions, sleep, and one value in
//! SRAM. While nobody watches, nothing here runs.
//!
//! Whatever changes these leaves the fast loop, and the core compares between two instructions. So
//! a change is seen at the end of the instruction that made it. Nothing of this changes what the
//! core does, nor when.

use super::{Core, Sleep};
use crate::bus::Bus;

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Primask,
    Faultmask,
    Basepri,
    /// The exception that executes from now on; 0 is Thread mode.
    Exception,
    /// exception * 256 + its priority.
    Priority,
    /// exception * 2 + 1 if it is enabled.
    Enabled,
    Prigroup,
    /// The watched value in SRAM.
    Word,
    /// 1: the core begins to sleep. 0: it wakes.
    Sleep,
    /// 1: the core waits for the flash, which is programmed or erased. 0: it goes on.
    Flash,
    Reset,
}

/// A change, and the core's state from which its call stack follows.
#[derive(Clone, Debug)]
pub struct Change {
    /// From this cycle on it has effect.
    pub cycle: u64,
    pub what: What,
    pub value: u32,
    /// The instruction that made it, or that an exception interrupted.
    pub pc: u32,
    /// When the entry or the return began.
    pub began: Option<u64>,
    pub context: Context,
}

/// Registers at a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// R0–R12, the SP in use, LR.
    pub registers: [u32; 15],
    pub psp: u32,
    /// The frame of the interrupted code, if the core has just entered a handler or leaves one.
    pub frame: Option<ExceptionFrame>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExceptionFrame {
    /// Stacked: the interrupted code is innermost.
    Entered { exc_return: u32 },
    /// To be unstacked: the instruction that returns is innermost.
    Left { exc_return: u32 },
}

/// A value of `bytes` bytes (1, 2 or 4) in SRAM: at `address`, or at `address` beyond what the word at
/// `pointer` points to. While that points to nothing it is 0. It lies within an aligned word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    pub pointer: Option<u32>,
    pub address: u32,
    pub bytes: u32,
}

impl Watched {
    /// The address of the value now. `None` while nothing is pointed to.
    fn place<B: Bus>(&self, bus: &mut B) -> Option<u32> {
        let Some(pointer) = self.pointer else {
            return Some(self.address);
        };
        let base = u32::from_le_bytes(*bus.plain_bytes::<4>(pointer)?);
        (base != 0).then(|| base.wrapping_add(self.address))
    }

    fn value<B: Bus>(&self, bus: &mut B, place: u32) -> Option<u32> {
        let word = u32::from_le_bytes(*bus.plain_bytes::<4>(place & !3)?);
        let mask = u32::MAX >> (32 - 8 * self.bytes.clamp(1, 4));
        Some(word >> (8 * (place & 3)) & mask)
    }
}

/// What one look compares with the next, but for the priorities.
#[derive(Clone, Copy, PartialEq, Eq)]
struct State {
    primask: bool,
    faultmask: bool,
    basepri: u8,
    prigroup: u8,
    asleep: bool,
    word: u32,
    enabled: u128,
}

/// An exception's entry or return under way.
#[derive(Clone, Copy)]
struct Sequence {
    cycle: u64,
    pc: u32,
    context: Context,
}

#[derive(Clone)]
pub(super) struct Watch {
    word: Option<Watched>,
    /// Where the watched value was at the last look.
    place: Option<u32>,
    seen: State,
    priorities: [u8; 128],
    sequence: Sequence,
    /// The instruction count at the last return: until the next instruction the PC tells the place.
    returned_at: Option<u64>,
    changes: Vec<Change>,
    /// The machine has not been told of the last changes.
    news: bool,
}

impl Core {
    /// Watches from now on. The first changes say that the watch begins (a reset), and what differs
    /// from the state after a reset. `word` is the address of a word of SRAM to watch as well.
    pub fn watch(&mut self, word: Option<u32>) {
        self.watch_value(word.map(|address| Watched {
            pointer: None,
            address,
            bytes: 4,
        }));
    }

    /// As [`Core::watch`], with any value in SRAM.
    pub fn watch_value(&mut self, word: Option<Watched>) {
        let sequence = self.sequence_here();
        let after_reset = Core::of(self.model, self.time.model);
        self.observers.watch = Some(Box::new(Watch {
            word,
            place: None,
            seen: after_reset.state(0),
            priorities: *after_reset.exceptions.priorities(),
            sequence,
            returned_at: Some(self.time.instructions),
            changes: Vec::new(),
            news: false,
        }));
        self.begin_watch();
        if self.registers.ipsr != 0 {
            self.note_change(
                What::Exception,
                self.registers.ipsr.into(),
                self.registers.pc,
                Some(self.time.cycles),
            );
        }
    }

    /// The changes since the last call, in order. After a change [`Core::run`] returns.
    pub fn take_changes(&mut self) -> Vec<Change> {
        let watch = self.observers.watch.as_mut();
        watch.map_or(Vec::new(), |watch| std::mem::take(&mut watch.changes))
    }

    /// Waits up to `cycle` for the flash, which is programmed or erased.
    pub fn wait_for_busy_flash(&mut self, cycle: u64) {
        self.note_change(What::Flash, 1, self.registers.pc, None);
        self.advance_to(cycle);
        self.note_change(What::Flash, 0, self.registers.pc, None);
    }

    /// Goes on watching after a reset.
    pub(super) fn carry_watch_over(&mut self, watch: Option<Box<Watch>>) {
        self.observers.watch = watch;
        let after = self.state(0);
        let Some(watch) = &mut self.observers.watch else {
            return;
        };
        watch.returned_at = Some(self.time.instructions);
        watch.priorities = *self.exceptions.priorities();
        watch.seen = State {
            word: watch.seen.word,
            ..after
        };
        self.begin_watch();
    }

    fn begin_watch(&mut self) {
        self.note_change(What::Reset, 0, self.registers.pc, None);
        if let Some(word) = self.observers.watch.as_ref().and_then(|watch| watch.word) {
            // As if code were there: then stores leave the fast loop.
            self.fast
                .code
                .guard(word.pointer.unwrap_or(word.address), 4);
        }
        self.leave_fast_loop();
    }

    /// Whether changes of masks must leave the fast loop.
    #[inline(always)]
    pub(super) fn watched(&self) -> bool {
        self.observers.watch.is_some()
    }

    /// Whether a change was noted of which the machine has not been told.
    #[inline(always)]
    pub(super) fn has_news(&self) -> bool {
        self.observers
            .watch
            .as_ref()
            .is_some_and(|watch| watch.news)
    }

    /// Looks for changes between two instructions. True if the machine must be told of some.
    #[inline(always)]
    pub(super) fn tells_changes<B: Bus>(&mut self, bus: &mut B) -> bool {
        self.observers.watch.is_some() && self.look(bus)
    }

    #[inline(never)]
    fn look<B: Bus>(&mut self, bus: &mut B) -> bool {
        let word = self.watched_value(bus);
        let now = self.state(word);
        let Some(watch) = &self.observers.watch else {
            return false;
        };
        if now != watch.seen || *self.exceptions.priorities() != watch.priorities {
            self.note_changes(now);
        }
        let watch = self.observers.watch.as_mut();
        watch.is_some_and(|watch| std::mem::take(&mut watch.news))
    }

    /// The watched value; 0 where there is none.
    fn watched_value<B: Bus>(&mut self, bus: &mut B) -> u32 {
        let Some(watch) = &mut self.observers.watch else {
            return 0;
        };
        let Some(word) = watch.word else {
            return 0;
        };
        let place = word.place(bus);
        if word.pointer.is_some() && place != watch.place {
            watch.place = place;
            if let Some(place) = place {
                self.fast.code.guard(place, 4);
                self.leave_fast_loop();
            }
        }
        place.and_then(|place| word.value(bus, place)).unwrap_or(0)
    }

    /// Notes what of `now` and of the priorities differs from what was last seen.
    fn note_changes(&mut self, now: State) {
        let Some(watch) = &mut self.observers.watch else {
            return;
        };
        let pc = match watch.returned_at {
            Some(count) if count == self.time.instructions => self.registers.pc,
            _ => self.time.previous_pc,
        };
        let mut changes = watch.seen.changes(&now);
        let priorities = *self.exceptions.priorities();
        changes.extend(priority_changes(&watch.priorities, &priorities));
        (watch.seen, watch.priorities) = (now, priorities);
        for (what, value) in changes {
            self.note_change(what, value, pc, None);
        }
    }

    fn state(&self, word: u32) -> State {
        State {
            primask: self.exceptions.primask(),
            faultmask: self.exceptions.faultmask(),
            basepri: self.exceptions.basepri(),
            prigroup: self.exceptions.prigroup(),
            asleep: self.handling.sleep != Sleep::Awake && self.asleep(),
            word,
            enabled: self.exceptions.enabled(),
        }
    }

    fn note_change(&mut self, what: What, value: u32, pc: u32, began: Option<u64>) {
        if self.observers.watch.is_none() {
            return;
        }
        let context = self.context(None);
        self.note(Change {
            cycle: self.time.cycles,
            what,
            value,
            pc,
            began,
            context,
        });
    }

    fn note(&mut self, change: Change) {
        if let Some(watch) = &mut self.observers.watch {
            watch.changes.push(change);
            watch.news = true;
        }
    }

    fn context(&self, frame: Option<ExceptionFrame>) -> Context {
        let mut registers = [0; 15];
        registers.copy_from_slice(&self.registers.general[..15]);
        Context {
            registers,
            psp: self.psp(),
            frame,
        }
    }

    fn sequence_here(&self) -> Sequence {
        Sequence {
            cycle: self.time.cycles,
            pc: self.registers.pc,
            context: self.context(None),
        }
    }

    /// The core has woken, at this cycle.
    #[inline(always)]
    pub(super) fn note_waking(&mut self) {
        if self
            .observers
            .watch
            .as_ref()
            .is_some_and(|watch| watch.seen.asleep)
        {
            self.note_end_of_sleep();
        }
    }

    #[inline(never)]
    fn note_end_of_sleep(&mut self) {
        if let Some(watch) = &mut self.observers.watch {
            watch.seen.asleep = false;
        }
        self.note_change(What::Sleep, 0, self.time.previous_pc, None);
    }

    /// An entry begins, with the stacking.
    #[inline(always)]
    pub(super) fn note_entry_begins(&mut self) {
        if self.observers.watch.is_some() {
            let sequence = self.sequence_here();
            self.set_sequence(sequence);
        }
    }

    /// A return begins, after its instruction.
    #[inline(always)]
    pub(super) fn note_return_begins(&mut self, exc_return: u32) {
        if self.observers.watch.is_some() {
            self.set_sequence(Sequence {
                cycle: self.time.cycles,
                pc: self.time.previous_pc,
                context: self.context(Some(ExceptionFrame::Left { exc_return })),
            });
        }
    }

    fn set_sequence(&mut self, sequence: Sequence) {
        if let Some(watch) = &mut self.observers.watch {
            watch.sequence = sequence;
        }
    }

    /// The first instruction of the handler of `exception` comes next.
    #[inline(always)]
    pub(super) fn note_entered(&mut self, exception: u8) {
        if self.observers.watch.is_some() {
            let exc_return = self.registers.general[14];
            let context = self.context(Some(ExceptionFrame::Entered { exc_return }));
            self.note_sequence(exception, context);
        }
    }

    /// The return is complete.
    #[inline(always)]
    pub(super) fn note_left(&mut self) {
        if let Some(watch) = &mut self.observers.watch {
            watch.returned_at = Some(self.time.instructions);
            let context = watch.sequence.context;
            self.note_sequence(self.registers.ipsr, context);
        }
    }

    #[inline(never)]
    fn note_sequence(&mut self, exception: u8, context: Context) {
        let Some(Sequence { cycle, pc, .. }) =
            self.observers.watch.as_ref().map(|watch| watch.sequence)
        else {
            return;
        };
        self.note(Change {
            cycle: self.time.cycles,
            what: What::Exception,
            value: exception.into(),
            pc,
            began: Some(cycle),
            context,
        });
    }
}

impl State {
    /// What of `now` differs, and its new value.
    fn changes(&self, now: &State) -> Vec<(What, u32)> {
        let single = [
            (What::Primask, self.primask.into(), now.primask.into()),
            (What::Faultmask, self.faultmask.into(), now.faultmask.into()),
            (What::Basepri, self.basepri.into(), now.basepri.into()),
            (What::Prigroup, self.prigroup.into(), now.prigroup.into()),
            (What::Word, self.word, now.word),
            (What::Sleep, self.asleep.into(), now.asleep.into()),
        ];
        let enabled = (0..128).filter(|n| (self.enabled ^ now.enabled) >> n & 1 != 0);
        single
            .into_iter()
            .filter(|(_, before, after): &(What, u32, u32)| before != after)
            .map(|(what, _, after)| (what, after))
            .chain(enabled.map(|n| (What::Enabled, n << 1 | (now.enabled >> n & 1) as u32)))
            .collect()
    }
}

fn priority_changes<'a>(
    before: &'a [u8; 128],
    now: &'a [u8; 128],
) -> impl Iterator<Item = (What, u32)> + 'a {
    let changed = (0..128).filter(|&n| before[n] != now[n]);
    changed.map(|n| (What::Priority, (n as u32) << 8 | u32::from(now[n])))
}
