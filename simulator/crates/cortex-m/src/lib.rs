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
//! | `data_access`, `fast_memory`, `memory_map`, `mpu` | loads and stores |
//! | `exceptions` | decides what preempts |
//! | `exception_entry`, `exception_return` | takes exceptions and returns from them |
//! | `interrupted_instructions` | ends instructions early for an interrupt |
//! | `busy_wait` | skips iterations of loops that only wait |
//! | `marks` | notes when marked instructions execute |
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
mod data_access;
mod debug;
mod decode;
mod dispatch;
mod dwt;
mod exception_entry;
mod exception_return;
mod exceptions;
mod execute;
mod fast_memory;
mod halt_cause;
mod interrupted_instructions;
mod itm;
mod marks;
mod memory_map;
pub mod model;
mod mpu;
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
pub use exceptions::IRQ_LINES;
pub use itm::Stimulus;
pub use marks::Passage;
pub use model::{CoreKind, Model};
pub use planned_interrupt::{Hold, Planned, Raised};
pub use state::FaultEntry;
pub use stop::{RunEnd, Stop};
pub use timing::{unaligned_cycles, Timing};
pub use watch::{Change, Context, ExceptionFrame, Watched, What};

use crate::bus::{Bus, Fault as BusFault, Width};
use data_access::Purpose;
use decode::Op;
use dwt::Event;
use exceptions::{Exceptions, FIRST_IRQ};
use serde::{Deserialize, Serialize};
use state::{ExecutionCounter, Fast, Handling, Observers, PrivateUnits, Registers, Sleep, Time};

/// The processor. Cycles count from power-up. Data is on the bus one cycle after its instruction
/// issues.
#[derive(Clone, Serialize, Deserialize)]
pub struct Core {
    model: Model,
    registers: Registers,
    exceptions: Exceptions,
    handling: Handling,
    private: PrivateUnits,
    time: Time,
    observers: Observers,
    #[serde(skip)]
    fast: Fast,
    /// For whom memory is accessed just now.
    purpose: Purpose,
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
            exceptions: Exceptions::new(model.priority_mask()),
            handling: Handling::default(),
            private: PrivateUnits::new(model),
            time: Time::new(model, timing),
            observers: Observers::default(),
            fast: Fast::default(),
            purpose: Purpose::Instruction,
            attention: false,
        }
    }

    /// The fault whose handler is active, alone or below others. If several are, the last one.
    pub fn active_fault(&self) -> Option<FaultEntry> {
        self.handling
            .fault
            .filter(|fault| self.exceptions.is_active(fault.exception))
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
        let old = std::mem::replace(self, Core::of(self.model, self.time.model));
        self.time.cycles = old.time.cycles;
        self.time.instructions = old.time.instructions;
        self.observers.execution_counters = old.observers.execution_counters;
        self.observers.marks = old.observers.marks;
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
        self.time.fetch.configure(bus.flash_access_control());
        self.carry_debug_over(old.private.debug);
        self.carry_watch_over(old.observers.watch);
        Ok(())
    }

    /// Takes over the state of the flash's access control at once, not only at the next store.
    pub fn heed_flash_access_control<B: Bus>(&mut self, bus: &B) {
        self.time.fetch.configure(bus.flash_access_control());
    }

    /// Computes the fields that a snapshot leaves out.
    pub fn rebuild_derived(&mut self) {
        self.exceptions.rebuild_derived();
        self.update_guard();
    }

    fn reset_vector<B: Bus>(&self, bus: &mut B, address: u32) -> Result<u32, Stop> {
        match bus.read(address, Width::Word, self.time.cycles) {
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

    /// Core cycles since power-up.
    pub fn cycles(&self) -> u64 {
        self.time.cycles
    }

    /// Instructions executed, including those skipped in IT blocks.
    pub fn instructions(&self) -> u64 {
        self.time.instructions
    }

    /// Sets interrupt input `irq` (0 = exception 16). It is level-sensitive: its exception pends
    /// when it rises, and again if it is high when the handler returns. Panics if the core has no
    /// such line.
    pub fn set_irq_line(&mut self, irq: u16, level: bool) {
        let exception = FIRST_IRQ + irq as u8;
        let was_pending = self.exceptions.is_pending(exception);
        self.exceptions.set_line(irq, level);
        if !level && self.time.data_free > self.time.cycles {
            self.handling.lowered = Some((irq, self.time.data_free));
        }
        self.note_pending(!was_pending && self.exceptions.is_pending(exception));
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
        let changed = lines ^ self.exceptions.irq_lines();
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
            Sleep::UntilInterrupt => !self.exceptions.wakes(),
            Sleep::UntilEvent => !self.handling.event && !self.exceptions.wakes(),
        }
    }

    /// Whether an exception is pending that would be taken if PRIMASK were clear.
    pub fn wakes(&self) -> bool {
        self.exceptions.wakes()
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
            .count(event, cycle.saturating_sub(self.time.cycles));
        self.time.cycles = self.time.cycles.max(cycle);
        self.sync_systick(self.time.cycles);
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
        assert!(
            self.observers.execution_counters.len() < usize::from(Op::NOTHING) - 1,
            "at most 254 addresses can be counted"
        );
        self.observers.execution_counters.push(ExecutionCounter {
            address: address & !1,
            executions: 0,
        });
        self.invalidate_code();
        self.observers.execution_counters.len() - 1
    }

    /// Stops counting executions, and forgets the counts.
    pub fn clear_execution_counters(&mut self) {
        self.observers.execution_counters.clear();
        self.invalidate_code();
    }

    /// Interrupts that were ever enabled, and other exceptions that were ever taken. Bit n is
    /// exception n.
    pub fn used_exceptions(&self) -> u128 {
        self.exceptions.used()
    }

    /// Interrupts that are enabled. Bit n is exception n.
    pub fn enabled_interrupts(&self) -> u128 {
        self.exceptions.enabled()
    }

    /// The address of the instruction executed last.
    pub fn last_executed(&self) -> u32 {
        self.time.previous_pc
    }

    /// The exception that the core is in. 0 is Thread mode.
    pub fn exception(&self) -> u8 {
        self.registers.ipsr
    }

    /// The address of the handler of `exception` is in the word at this address.
    pub fn vector_address(&self, exception: u8) -> u32 {
        self.private.scb.vtor.wrapping_add(4 * u32::from(exception))
    }

    pub fn is_pending(&self, exception: u8) -> bool {
        self.exceptions.is_pending(exception)
    }

    fn counts_executions(&self, address: u32) -> bool {
        let mut counters = self.observers.execution_counters.iter();
        counters.any(|counter| counter.address == address)
    }

    /// Counts no more of the instruction at `address`. The indices of the others stay.
    fn stop_counting(&mut self, address: u32) {
        const NOWHERE: u32 = 1; // no instruction has an odd address
        for counter in &mut self.observers.execution_counters {
            if counter.address == address {
                counter.address = NOWHERE;
            }
        }
        self.invalidate_code();
    }

    pub fn executions(&self, index: usize) -> u64 {
        self.observers.execution_counters[index].executions
    }
}

#[cfg(test)]
#[path = "../../../tests/support/random.rs"]
mod random;
#[cfg(test)]
mod two_memories;
