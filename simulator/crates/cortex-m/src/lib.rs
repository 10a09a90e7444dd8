//! A Cortex-M core and its private peripherals: the M4 with its FPU (ARMv7E-M), the M3 (ARMv7-M) or
//! the M0 (ARMv6-M).
//!
//! | file | what it does |
//! |---|---|
//! | `model` | says which core it is, and what that one has |
//! | `run` | runs from event to event: instructions, exceptions, timers, sleep, debug |
//! | `dispatch` | goes from one instruction to the next |
//! | `decode`, `code_cache` | turns opcodes into operations, and remembers them |
//! | `execute`, `registers` | does what the operations say |
//! | `timing` | says what they cost |
//! | `data_path`, `memory_map`, `mpu` | loads and stores |
//! | `nvic` | decides what preempts |
//! | `exception_entry`, `exception_return` | takes exceptions and returns from them |
//! | `interrupted_instructions` | ends instructions early for an interrupt |
//! | `busy_wait` | skips iterations of loops that only wait |
//! | `places` | notes when instructions at places execute |
//! | `planned_interrupt` | pends an interrupt at a chosen cycle |
//! | `private_bus` | the registers of `scb`, `systick`, `dwt`, `itm`, `mpu` and NVIC |
//! | `private_gaps` | what the model lacks of them |
//! | `capabilities` | which of them a core has |
//! | `debug` | what a debugger does to the core |
//! | `watch` | tells what holds interrupts off |
//!
//! Section numbers are those of the ARMv7-M Architecture Reference Manual, ARM DDI 0403E, unless
//! another manual is named. TRM is the Cortex-M4 Technical Reference Manual, ARM DDI 0439.

mod access;
pub mod bus;
mod busy_wait;
mod capabilities;
mod code_cache;
mod data_path;
mod debug;
mod decode;
mod dispatch;
mod dwt;
mod exception_entry;
mod exception_return;
mod execute;
mod halt_cause;
mod interrupted_instructions;
mod itm;
mod memory_map;
pub mod model;
mod mpu;
mod nvic;
mod places;
mod planned_interrupt;
mod private_bus;
mod private_gaps;
mod profile;
mod registers;
mod run;
mod scb;
mod state;
mod stop;
mod systick;
mod timing;
mod trap;
mod watch;

pub use debug::DebugFault;
pub use decode::{encoding_name, encodings, encodings_of, is_wide, Encoding};
pub use itm::Stimulus;
pub use model::{CoreKind, Model};
pub use nvic::{Hold, IRQ_LINES};
pub use places::Passage;
pub use planned_interrupt::{Planned, Raised};
pub use state::FaultEntry;
pub use stop::{RunEnd, Stop};
pub use timing::{unaligned_cycles, Timing};
pub use watch::{Change, Context, ExceptionFrame, Watched, What};

use crate::bus::{Bus, Fault as BusFault, Width};
use data_path::DataPath;
use dwt::Event;
use nvic::Nvic;
use registers::Registers;
use serde::{Deserialize, Serialize};
use state::{Fast, Handling, Observers, PrivateUnits, Sleep};
use timing::Pipeline;

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

/// The fault registers (B3.2.15–B3.2.19).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultStatus {
    pub cfsr: u32,
    pub hfsr: u32,
    pub mmfar: u32,
    pub bfar: u32,
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

    pub fn fault_registers(&self) -> FaultStatus {
        FaultStatus {
            cfsr: self.private.scb.cfsr,
            hfsr: self.private.scb.hfsr,
            mmfar: self.private.scb.mmfar,
            bfar: self.private.scb.bfar,
        }
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
        self.private.scb.demcr = old.private.scb.demcr & !debug::MONITOR_CONTROLS;
        self.private.scb.dfsr = old.private.scb.dfsr;
        self.fast.busy_wait = old.fast.busy_wait;
        self.fast.busy_wait.forget();
        let stack = self.reset_vector(bus, 0)?;
        let entry = self.reset_vector(bus, 4)?;
        self.registers.general[13] = stack & !3;
        self.registers.general[14] = 0xFFFF_FFFF;
        self.registers.pc = entry & !1;
        self.registers.thumb = entry & 1 != 0;
        self.pipeline.configure(bus.flash_access_control());
        self.carry_debug_over(old.private.debug);
        if let Some(watch) = old.observers.watch {
            self.carry_watch_over(watch);
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

    fn reset_vector<B: Bus>(&self, bus: &mut B, address: u32) -> Result<u32, Stop> {
        match bus.read(address, Width::Word, self.pipeline.cycles()) {
            Ok(loaded) => Ok(loaded.value),
            Err(BusFault::Bus { .. }) => Err(Stop::Lockup {
                pc: address,
                cause: "the reset vector cannot be read",
            }),
            Err(BusFault::Unmodelled { what, address }) => Err(Stop::Unmodelled {
                what,
                address,
                pc: address,
            }),
        }
    }

    /// Which core it is.
    pub fn model(&self) -> Model {
        self.model
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
        match n {
            13 => self.registers.general[13] = value & !3,
            15 => {
                self.registers.pc = value & !1;
                self.pipeline.moved(self.registers.pc);
            }
            _ => self.registers.general[n] = value,
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
        self.registers.float.fpscr = value & registers::FPSCR_WRITABLE;
    }

    pub fn primask(&self) -> bool {
        self.nvic.primask()
    }

    pub fn faultmask(&self) -> bool {
        self.nvic.faultmask()
    }

    pub fn basepri(&self) -> u8 {
        self.nvic.basepri()
    }

    /// Core cycles since power-up.
    pub fn cycles(&self) -> u64 {
        self.pipeline.cycles()
    }

    /// Instructions executed, including those skipped in IT blocks.
    pub fn instructions(&self) -> u64 {
        self.pipeline.instructions()
    }

    /// Sets interrupt input `irq` (0 = exception 16). It is level-sensitive: its exception pends
    /// when it rises, and again if it is high when the handler returns. Panics if the core has no
    /// such line.
    pub fn set_irq_line(&mut self, irq: u16, level: bool) {
        let newly = self.nvic.set_line(irq, level);
        let lowered = self.pipeline.storing_until().filter(|_| !level);
        if let Some(arrives) = lowered {
            self.handling.lowered = Some((irq, arrives));
        }
        self.note_pending(newly);
        self.leave_fast_loop();
    }

    /// An event from the chip. It ends WFE, or lets the next WFE pass (B1.5.18).
    pub fn hear_event(&mut self) {
        self.handling.event = true;
        self.leave_fast_loop();
    }

    /// Sets all interrupt inputs. Bit n is line n.
    #[inline]
    pub fn set_irq_lines(&mut self, lines: u128) {
        let changed = lines ^ self.nvic.irq_lines();
        if changed != 0 {
            self.change_irq_lines(changed, lines);
        }
    }

    fn change_irq_lines(&mut self, mut changed: u128, lines: u128) {
        while changed != 0 {
            let irq = changed.trailing_zeros();
            changed &= changed - 1;
            self.set_irq_line(irq as u16, lines >> irq & 1 != 0);
        }
    }

    /// Whether WFI, WFE or sleep-on-exit holds the core and nothing wakes it.
    pub fn asleep(&self) -> bool {
        match self.handling.sleep {
            Sleep::Awake => false,
            Sleep::UntilInterrupt => !self.nvic.wakes(),
            Sleep::UntilEvent => !self.handling.event && !self.nvic.wakes(),
        }
    }

    /// Whether an exception is pending that would be taken if PRIMASK were clear.
    pub fn wakes(&self) -> bool {
        self.nvic.wakes()
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

    /// Keeps what software writes to the ITM's stimulus ports from now on.
    pub fn listen_to_stimuli(&mut self) {
        self.private.itm.listen();
    }

    /// Writes to enabled stimulus ports since the last call.
    pub fn take_stimuli(&mut self) -> Vec<Stimulus> {
        self.private.itm.take()
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

    /// Passages tell the word at this address of memory, too.
    pub fn tell_task(&mut self, address: u32) {
        self.observers.places.tell_task(address);
    }

    /// Passages since the last call, in the order in which they ended.
    pub fn take_passages(&mut self) -> Vec<Passage> {
        self.observers.places.take_passages()
    }

    /// Interrupts that were ever enabled, and other exceptions that were ever taken. Bit n is
    /// exception n.
    pub fn used_exceptions(&self) -> u128 {
        self.nvic.used()
    }

    /// Interrupts that are enabled. Bit n is exception n.
    pub fn enabled_interrupts(&self) -> u128 {
        self.nvic.enabled()
    }

    /// The address of the instruction executed last.
    pub fn last_executed(&self) -> u32 {
        self.pipeline.previous_pc()
    }

    /// The exception that the core is in. 0 is Thread mode.
    pub fn exception(&self) -> u8 {
        self.registers.ipsr
    }

    /// The address of the handler of `exception` is in the word at this address.
    pub fn vector_address(&self, exception: u8) -> u32 {
        self.private.scb.vector_address(exception)
    }

    pub fn is_pending(&self, exception: u8) -> bool {
        self.nvic.is_pending(exception)
    }
}

#[cfg(test)]
#[path = "../../../tests/support/random.rs"]
mod random;
#[cfg(test)]
mod two_memories;
