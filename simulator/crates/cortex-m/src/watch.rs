//! Watches what holds interrupts off: masks, priorities, enables, exceptions, sleep, and one value in
//! SRAM. While nobody watches, nothing here runs.
//!
//! Whatever changes these leaves the fast loop, and the core compares between two instructions. So
//! a change is seen at the end of the instruction that made it. Nothing of this changes what the
//! core does, nor when.

use crate::bus::Bus;
use crate::nvic::Nvic;
use crate::registers::Registers;
use crate::timing::Pipeline;

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
    /// The word at this address.
    pub fn word(address: u32) -> Watched {
        Watched {
            pointer: None,
            address,
            bytes: 4,
        }
    }

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
pub struct Watch {
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

/// The core, as the watch sees it.
pub struct View<'a> {
    pub registers: &'a Registers,
    pub nvic: &'a Nvic,
    pub pipeline: &'a Pipeline,
    pub asleep: bool,
}

impl Watch {
    /// Begins to watch. The first changes say so (a reset), and what differs from the state after a reset.
    pub fn begin(word: Option<Watched>, after_reset: &View, now: &View) -> Watch {
        let mut watch = Watch {
            word,
            place: None,
            seen: after_reset.state(0),
            priorities: *after_reset.nvic.priorities(),
            sequence: now.sequence(),
            returned_at: Some(now.pipeline.instructions()),
            changes: Vec::new(),
            news: false,
        };
        watch.note(now, What::Reset, 0, now.registers.pc);
        if now.registers.ipsr != 0 {
            watch.end_sequence(now, now.registers.ipsr, now.context(None));
        }
        watch
    }

    /// The core was reset.
    pub fn reset(&mut self, now: &View) {
        self.returned_at = Some(now.pipeline.instructions());
        self.priorities = *now.nvic.priorities();
        self.seen = now.state(self.seen.word);
        self.note(now, What::Reset, 0, now.registers.pc);
    }

    /// The address of a word whose stores must be seen, from the beginning on.
    pub fn first_word(&self) -> Option<u32> {
        self.word.map(|word| word.pointer.unwrap_or(word.address))
    }

    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// Whether the machine must be told of changes. It is, then.
    pub fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.news)
    }

    /// Whether a change was noted of which the machine has not been told.
    pub fn has_news(&self) -> bool {
        self.news
    }

    /// Notes what has changed. Returns where the watched value is, if it has moved there.
    pub fn look<B: Bus>(&mut self, now: &View, bus: &mut B) -> Option<u32> {
        let place = self.word.and_then(|word| word.place(bus));
        let moved = self.word.is_some_and(|word| word.pointer.is_some()) && place != self.place;
        if moved {
            self.place = place;
        }
        let word = self.word.zip(place);
        let word = word.and_then(|(word, place)| word.value(bus, place));
        let state = now.state(word.unwrap_or(0));
        if state != self.seen || *now.nvic.priorities() != self.priorities {
            self.note_changes(now, state);
        }
        place.filter(|_| moved)
    }

    /// Notes what of `state` and of the priorities differs from what was last seen.
    fn note_changes(&mut self, now: &View, state: State) {
        let pc = match self.returned_at {
            Some(count) if count == now.pipeline.instructions() => now.registers.pc,
            _ => now.pipeline.previous_pc(),
        };
        let mut changes = self.seen.changes(&state);
        let priorities = *now.nvic.priorities();
        changes.extend(priority_changes(&self.priorities, &priorities));
        (self.seen, self.priorities) = (state, priorities);
        for (what, value) in changes {
            self.note(now, what, value, pc);
        }
    }

    fn note(&mut self, now: &View, what: What, value: u32, pc: u32) {
        self.changes.push(Change {
            cycle: now.pipeline.cycles(),
            what,
            value,
            pc,
            began: None,
            context: now.context(None),
        });
        self.news = true;
    }

    /// The core has woken, at this cycle.
    pub fn woken(&mut self, now: &View) {
        if std::mem::take(&mut self.seen.asleep) {
            self.note(now, What::Sleep, 0, now.pipeline.previous_pc());
        }
    }

    /// An entry begins, with the stacking.
    pub fn begin_entry(&mut self, now: &View) {
        self.sequence = now.sequence();
    }

    /// A return begins, after its instruction.
    pub fn begin_return(&mut self, now: &View, exc_return: u32) {
        self.sequence = Sequence {
            pc: now.pipeline.previous_pc(),
            context: now.context(Some(ExceptionFrame::Left { exc_return })),
            ..now.sequence()
        };
    }

    /// The first instruction of the handler of `exception` comes next.
    pub fn entered(&mut self, now: &View, exception: u8) {
        let exc_return = now.registers.general[14];
        let context = now.context(Some(ExceptionFrame::Entered { exc_return }));
        self.end_sequence(now, exception, context);
    }

    /// The return is complete.
    pub fn left(&mut self, now: &View) {
        self.returned_at = Some(now.pipeline.instructions());
        self.end_sequence(now, now.registers.ipsr, self.sequence.context);
    }

    fn end_sequence(&mut self, now: &View, exception: u8, context: Context) {
        self.changes.push(Change {
            cycle: now.pipeline.cycles(),
            what: What::Exception,
            value: exception.into(),
            pc: self.sequence.pc,
            began: Some(self.sequence.cycle),
            context,
        });
        self.news = true;
    }
}

impl View<'_> {
    fn state(&self, word: u32) -> State {
        let (primask, faultmask, basepri) = self.nvic.masks();
        State {
            primask,
            faultmask,
            basepri,
            prigroup: self.nvic.prigroup(),
            asleep: self.asleep,
            word,
            enabled: self.nvic.enabled(),
        }
    }

    fn context(&self, frame: Option<ExceptionFrame>) -> Context {
        let mut registers = [0; 15];
        registers.copy_from_slice(&self.registers.general[..15]);
        Context {
            registers,
            psp: self.registers.psp(),
            frame,
        }
    }

    /// An entry that begins now.
    fn sequence(&self) -> Sequence {
        Sequence {
            cycle: self.pipeline.cycles(),
            pc: self.registers.pc,
            context: self.context(None),
        }
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
