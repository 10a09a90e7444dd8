//! The core's state, by what it is for.

use crate::busy_wait::BusyWait;
use crate::code_cache::CodeCache;
use crate::debug::Debug;
use crate::dwt::{CycleCounter, EventCounters};
use crate::itm::Itm;
use crate::model::Model;
use crate::mpu::Mpu;
use crate::places::Places;
use crate::planned_interrupt::{Planned, Raised};
use crate::scb::Scb;
use crate::systick::SysTick;
use crate::watch::Watch;
use serde::{Deserialize, Serialize};

/// The way into exceptions, out of them, and sleep until the next.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Handling {
    pub entering: Option<Entry>,
    pub leaving: Option<Return>,
    /// The EXC_RETURN value that the program has branched to.
    pub returning: Option<u32>,
    /// The last fault that was taken.
    pub fault: Option<FaultEntry>,
    pub sleep: Sleep,
    /// WFE's event register.
    pub event: bool,
    /// The interrupt whose line fell last, and until when the store that did it is on its way.
    pub lowered: Option<(u16, u64)>,
}

/// An entry under way. The frame is on the stack: a new one, or the last handler's.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Entry {
    pub exc_return: u32,
    /// The exception whose vector is being fetched.
    pub exception: u8,
    pub vector: u32,
    /// When the handler's first instruction executes, unless a higher priority arrives before.
    pub handler_cycle: u64,
    /// When the fetch of the handler's code begins.
    pub fetch_cycle: u64,
}

/// A return under way: the frame is being unstacked.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Return {
    pub exc_return: u32,
    /// When the last word has been read.
    pub unstacked_cycle: u64,
}

impl Handling {
    /// Whether an exception's entry or return is under way.
    pub fn sequence_begun(&self) -> bool {
        self.entering.is_some() || self.leaving.is_some()
    }
}

/// A fault that was taken: its exception (3–6), and where its frame begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultEntry {
    pub exception: u8,
    pub frame: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sleep {
    #[default]
    Awake,
    UntilInterrupt,
    UntilEvent,
}

/// The units on the private peripheral bus, but the NVIC, which decides what preempts.
#[derive(Clone, Serialize, Deserialize)]
pub struct PrivateUnits {
    pub scb: Scb,
    pub mpu: Mpu,
    pub systick: SysTick,
    pub cycle_counter: CycleCounter,
    pub events: EventCounters,
    pub itm: Itm,
    pub debug: Debug,
}

/// What makes the interpreter fast. It follows from the rest, and changes no result.
#[derive(Clone, Default)]
pub struct Fast {
    /// A cache of the code on the bus.
    pub code: CodeCache,
    /// Skips iterations that change nothing but the time.
    pub busy_wait: BusyWait,
    /// The fast loop runs while the cycle is below this. 0: something else must be done first. Each
    /// run sets it anew.
    pub horizon: u64,
}

/// Who looks on. All but the planned interrupt change no result.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Observers {
    pub places: Places,
    #[serde(skip)]
    pub planned: Planned,
    #[serde(skip)]
    pub raised: Raised,
    /// Notes what holds interrupts off.
    #[serde(skip)]
    pub watch: Option<Box<Watch>>,
}

impl PrivateUnits {
    pub fn new(core: Model) -> PrivateUnits {
        PrivateUnits {
            scb: Scb::of(core.kind),
            mpu: Mpu::default(),
            systick: SysTick::new(),
            cycle_counter: CycleCounter::default(),
            events: EventCounters::default(),
            itm: Itm::default(),
            debug: Debug::default(),
        }
    }
}
