//! The core itself: it fetches, decodes and executes, and ties its parts together.

mod debugger;
mod dispatch;
mod exception_entry;
mod exception_return;
mod execute;
mod interrupted_instructions;
mod loads_and_stores;
mod observers;
mod private_bus;
mod profile;
mod run;

use crate::bus::{Bus, Fault as BusFault, Width};
use crate::data_path::DataPath;
use crate::debug::MONITOR_CONTROLS;
use crate::dwt::Event;
use crate::itm::Itm;
use crate::model::Model;
use crate::nvic::Nvic;
use crate::registers::Registers;
use crate::scb::Scb;
use crate::state::{Fast, FaultEntry, Handling, Observers, PrivateUnits, Sleep};
use crate::stop::Stop;
use crate::timing::{Pipeline, Timing};
use serde::{Deserialize, Serialize};

/// The processor.
#[derive(Clone, Serialize, Deserialize)]
pub struct Core {
    model: Model,
    registers: Registers,
    nvic: Nvic,
    handling: Handling,
    private: PrivateUnits,
    pipeline: Pipeline,
    observers: Observers,
    #[serde(skip)]
    fast: Fast,
    data: DataPath,
    /// The machine must act before the next instruction.
    attention: bool,
}

impl Core {
    /// A Cortex-M4.
    pub fn new(timing: Timing) -> Core {
        Core::of(Model::default(), timing)
    }

    pub fn of(model: Model, timing: Timing) -> Core {
        Core {
            model,
            registers: Registers::new(),
            nvic: Nvic::new(model.priority_mask()),
            handling: Handling::default(),
            private: PrivateUnits::new(model),
            pipeline: Pipeline::new(model, timing),
            observers: Observers::default(),
            fast: Fast::default(),
            data: DataPath::new(),
            attention: false,
        }
    }

    /// The fault whose handler is active, alone or below others. If several are, the last one.
    pub fn active_fault(&self) -> Option<FaultEntry> {
        self.handling
            .fault
            .filter(|fault| self.nvic.is_active(fault.exception))
    }

    /// The last fault that was taken, whether or not its handler has returned.
    pub fn last_fault(&self) -> Option<FaultEntry> {
        self.handling.fault
    }

    /// Resets the core (B1.5.5): SP and PC come from the vector table at address 0. Cycle,
    /// instruction and execution counts go on. The debug units keep their state, which only
    /// power-up clears (table C1-6).
    pub fn reset<B: Bus>(&mut self, bus: &mut B) -> Result<(), Stop> {
        let after = Core::of(self.model, self.pipeline.timing());
        let mut old = std::mem::replace(self, after);
        old.pipeline.reset(self.model);
        self.pipeline = old.pipeline;
        self.observers.places = old.observers.places;
        self.private.cycle_counter = old.private.cycle_counter;
        self.private.events = old.private.events;
        self.private.itm = old.private.itm;
        self.private.scb.demcr = old.private.scb.demcr & !MONITOR_CONTROLS;
        self.private.scb.dfsr = old.private.scb.dfsr;
        self.fast.busy_wait = old.fast.busy_wait;
        self.fast.busy_wait.forget();
        let now = self.pipeline.cycles();
        let stack = reset_vector(bus, 0, now)?;
        let entry = reset_vector(bus, 4, now)?;
        self.registers.general[13] = stack & !3;
        self.registers.general[14] = 0xFFFF_FFFF;
        self.registers.pc = entry & !1;
        self.registers.thumb = entry & 1 != 0;
        self.pipeline.configure(bus.flash_access_control());
        self.private.debug = old.private.debug;
        self.private
            .debug
            .reset(self.pipeline.instructions(), &self.private.scb);
        self.heed_debugger();
        self.halt_if_requested();
        if let Some(mut watch) = old.observers.watch {
            watch.reset(&self.view());
            self.set_watch(watch);
        }
        Ok(())
    }

    /// Takes over the state of the flash's access control at once, not only at the next store.
    pub fn heed_flash_access_control<B: Bus>(&mut self, bus: &B) {
        self.pipeline.configure(bus.flash_access_control());
    }

    /// Computes the fields that a snapshot leaves out.
    pub fn rebuild_derived(&mut self) {
        self.nvic.rebuild_derived();
        self.update_guard();
    }

    /// Which core it is.
    pub fn model(&self) -> Model {
        self.model
    }

    /// What pends, what masks, and what preempts, to look at.
    pub fn nvic(&self) -> &Nvic {
        &self.nvic
    }

    /// The registers of the System Control Block, to look at.
    pub fn scb(&self) -> &Scb {
        &self.private.scb
    }

    /// Where the core is in time.
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// The ITM, to listen to.
    pub fn itm_mut(&mut self) -> &mut Itm {
        &mut self.private.itm
    }

    /// The registers, to look at.
    pub fn registers(&self) -> &Registers {
        &self.registers
    }

    /// General register `n`. 13 is the SP in use, 15 the address of the next instruction.
    pub fn register(&self, n: usize) -> u32 {
        match n {
            15 => self.registers.pc,
            _ => self.registers.general[n],
        }
    }

    pub fn set_register(&mut self, n: usize, value: u32) {
        self.registers.set_general(n, value);
        if n == 15 {
            self.pipeline.moved(self.registers.pc);
        }
    }

    pub fn pc(&self) -> u32 {
        self.registers.pc
    }

    pub fn set_xpsr(&mut self, value: u32) {
        self.registers.set_xpsr(value, self.model.facts());
    }

    pub fn set_float_register(&mut self, n: usize, value: u32) {
        self.registers.float.s[n] = value;
    }

    pub fn set_fpscr(&mut self, value: u32) {
        self.registers.float.set_fpscr(value);
    }

    /// Core cycles since power-up.
    pub fn cycles(&self) -> u64 {
        self.pipeline.cycles()
    }

    /// Instructions executed, including those skipped in IT blocks.
    pub fn instructions(&self) -> u64 {
        self.pipeline.instructions()
    }

    /// An event from the chip. It ends WFE, or lets the next WFE pass (B1.5.18).
    pub fn hear_event(&mut self) {
        self.handling.event = true;
        self.leave_fast_loop();
    }

    /// Sets all interrupt inputs; bit n is line n. A line is level-sensitive: its exception pends when it
    /// rises, and again if it is high when the handler returns.
    #[inline]
    pub fn set_irq_lines(&mut self, lines: u128) {
        if lines != self.nvic.irq_lines() {
            self.change_irq_lines(lines);
        }
    }

    fn change_irq_lines(&mut self, lines: u128) {
        let mut changed = lines ^ self.nvic.irq_lines();
        while changed != 0 {
            let irq = changed.trailing_zeros() as u16;
            changed &= changed - 1;
            let level = lines >> irq & 1 != 0;
            let newly = self.nvic.set_line(irq, level);
            let lowered = self.pipeline.storing_until().filter(|_| !level);
            if let Some(arrives) = lowered {
                self.handling.lowered = Some((irq, arrives));
            }
            self.note_pending(newly);
        }
        self.leave_fast_loop();
    }

    /// Whether WFI, WFE or sleep-on-exit holds the core and nothing wakes it.
    pub fn asleep(&self) -> bool {
        match self.handling.sleep {
            Sleep::Awake => false,
            Sleep::UntilInterrupt => !self.nvic.wakes(),
            Sleep::UntilEvent => !self.handling.event && !self.nvic.wakes(),
        }
    }

    /// Lets time pass while the core sleeps or waits for its flash. SysTick and CYCCNT follow. A
    /// cycle in the past changes nothing.
    pub fn advance_to(&mut self, cycle: u64) {
        let event = if self.asleep() {
            Event::Sleep
        } else {
            Event::Cpi
        };
        self.private
            .events
            .count(event, cycle.saturating_sub(self.pipeline.cycles()));
        self.pipeline.wait_until(cycle);
        self.sync_systick(self.pipeline.cycles());
    }

    /// The cycle of the next exception that the core itself pends, by SysTick or as planned.
    pub fn next_internal_event(&self) -> Option<u64> {
        Some(self.next_own_event()).filter(|cycle| *cycle != u64::MAX)
    }

    /// Whether the next thing to happen is the instruction at the PC: the core is awake and no
    /// exception comes first.
    pub fn about_to_execute(&self) -> bool {
        !self.sequence_due() && !self.asleep() && self.handling.returning.is_none()
    }

    /// Of the instructions counted, those of skipped iterations of busy waits.
    pub fn skipped_instructions(&self) -> u64 {
        self.fast.busy_wait.skipped_instructions()
    }

    /// Forgets decoded instructions. Call it when anything but a store by this core changed code.
    pub fn invalidate_code(&mut self) {
        self.fast.code.clear();
        self.leave_fast_loop();
    }

    /// Forgets decoded instructions at an address that was written.
    #[cold]
    fn forget_code(&mut self, address: u32, bytes: u32) {
        self.fast.code.written(address, bytes);
        self.leave_fast_loop();
    }
}

fn reset_vector<B: Bus>(bus: &mut B, address: u32, now: u64) -> Result<u32, Stop> {
    let pc = address;
    match bus.read(address, Width::Word, now) {
        Ok(loaded) => Ok(loaded.value),
        Err(BusFault::Bus { .. }) => Err(Stop::Lockup {
            pc,
            cause: "the reset vector cannot be read",
        }),
        Err(BusFault::Unmodelled { what, address }) => Err(Stop::Unmodelled { what, address, pc }),
    }
}
