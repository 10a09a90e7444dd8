//! The core's state, by what it is for.

use super::busy_wait::BusyWait;
use super::code_cache::CodeCache;
use super::data_access::Guard;
use super::debug::Debug;
use super::dwt::{CycleCounter, EventCounters};
use super::exception_entry::Entry;
use super::exception_return::Return;
use super::itm::Itm;
use super::marks::Marks;
use super::model::Model;
use super::mpu::Mpu;
use super::planned_interrupt::{Planned, Raised};
use super::registers::{Flags, FloatRegisters};
use super::scb::Scb;
use super::systick::SysTick;
use super::timing::{refill_cycles, Fetch, LoadStorePairs, Timing};
use super::watch::Watch;
use serde::{Deserialize, Serialize};

/// What instructions read and write (B1.4).
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Registers {
    /// R0–R12, the current SP, LR, and the PC as general instructions read it.
    pub general: [u32; 16],
    /// The SP that is not in use: PSP while MSP is, and the other way round.
    pub other_sp: u32,
    pub pc: u32,
    pub next_pc: u32,
    pub flags: Flags,
    /// ITSTATE. If its low half is 0, EPSR.ICI: the register from which a multiple continues.
    pub itstate: u8,
    pub thumb: bool,
    pub ipsr: u8,
    pub control: u8,
    pub float: FloatRegisters,
    /// The local monitor of LDREX and STREX.
    pub exclusive: bool,
}

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

/// Where the core is in time, and what decides how long the next instruction takes.
#[derive(Clone, Serialize, Deserialize)]
pub struct Time {
    pub model: Timing,
    /// What a taken branch costs where nothing waits.
    pub refill_cycles: u64,
    /// Core cycles since power-up.
    pub cycles: u64,
    pub instructions: u64,
    pub fetch: Fetch,
    pub pairs: LoadStorePairs,
    /// Registers that the last instruction has not yet written to the register bank.
    pub late_registers: u16,
    /// Address of the instruction executed last.
    pub previous_pc: u32,
    /// The data bus takes its next address in this cycle: the write buffer holds one store.
    pub data_free: u64,
}

/// What makes the interpreter fast. It follows from the rest, and changes no result.
#[derive(Clone, Default)]
pub struct Fast {
    /// What checks loads and stores. Follows from `mpu` and `debug`, see `update_guard`.
    pub guard: Guard,
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
    pub execution_counters: Vec<ExecutionCounter>,
    #[serde(skip)]
    pub marks: Marks,
    #[serde(skip)]
    pub planned: Planned,
    #[serde(skip)]
    pub raised: Raised,
    /// Notes what holds interrupts off.
    #[serde(skip)]
    pub watch: Option<Box<Watch>>,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct ExecutionCounter {
    pub address: u32,
    pub executions: u64,
}

impl Registers {
    pub fn new() -> Registers {
        Registers {
            thumb: true,
            float: FloatRegisters::new(),
            ..Registers::default()
        }
    }
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

impl Time {
    pub fn new(core: Model, timing: Timing) -> Time {
        Time {
            model: timing.of(core.kind),
            refill_cycles: refill_cycles(core.kind),
            cycles: 0,
            instructions: 0,
            fetch: Fetch::of(core),
            pairs: LoadStorePairs::new(),
            late_registers: 0,
            previous_pc: 0,
            data_free: 0,
        }
    }
}
