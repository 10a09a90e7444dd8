//! The core's state, by what it is for.

use super::busy_wait::BusyWait;
use super::code_cache::CodeCache;
use super::debug::Debug;
use super::dwt::{CycleCounter, EventCounters};
use super::exception_entry::Entry;
use super::exception_return::Return;
use super::itm::Itm;
use super::model::Model;
use super::mpu::Mpu;
use super::places::Places;
use super::planned_interrupt::{Planned, Raised};
use super::scb::Scb;
use super::systick::SysTick;
use super::watch::Watch;
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
            cycle_counter: CycleCounter::new(),
            events: EventCounters::default(),
            itm: Itm::default(),
            debug: Debug::default(),
        }
    }
}
