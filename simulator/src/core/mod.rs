//! An ARMv7E-M core with FPv4-SP.

mod stop;
pub mod timing;

pub use stop::{RunEnd, Stop};
pub use timing::Timing;

use crate::bus::Bus;

/// The processor: everything inside the Cortex-M4, its private peripherals included.
pub struct Core {
    timing: Timing,
    registers: [u32; 16],
    cycles: u64,
    instructions: u64,
    asleep: bool,
}

impl Core {
    pub fn new(timing: Timing) -> Core {
        Core {
            timing,
            registers: [0; 16],
            cycles: 0,
            instructions: 0,
            asleep: false,
        }
    }
    /// SP and PC from the vector table; everything but the cycle and instruction counts returns to its reset value.
    pub fn reset<B: Bus>(&mut self, _bus: &mut B) -> Result<(), Stop> {
        Ok(())
    }
    /// Executes until `deadline_cycle`, the bus's attention, or sleep.
    pub fn run<B: Bus>(&mut self, bus: &mut B, _deadline_cycle: u64) -> Result<RunEnd, Stop> {
        self.step(bus)?;
        Ok(RunEnd::Deadline)
    }
    /// One instruction or one exception entry.
    pub fn step<B: Bus>(&mut self, _bus: &mut B) -> Result<(), Stop> {
        let what = format!("execution under {:?} timing", self.timing);
        Err(Stop::Unmodelled {
            what,
            address: self.pc(),
            pc: self.pc(),
        })
    }
    pub fn cycles(&self) -> u64 {
        self.cycles
    }
    pub fn instructions(&self) -> u64 {
        self.instructions
    }
    /// Level-sensitive interrupt input `irq` (0 = exception 16).
    pub fn set_irq_line(&mut self, _irq: u16, _level: bool) {}
    pub fn asleep(&self) -> bool {
        self.asleep
    }
    /// Skips idle time; SysTick and CYCCNT follow.
    pub fn advance_to(&mut self, cycle: u64) {
        self.cycles = self.cycles.max(cycle);
    }
    /// The cycle of the next SysTick expiry that can pend.
    pub fn next_internal_event(&self) -> Option<u64> {
        None
    }
    pub fn register(&self, n: usize) -> u32 {
        self.registers[n]
    }
    pub fn set_register(&mut self, n: usize, value: u32) {
        self.registers[n] = value;
    }
    pub fn xpsr(&self) -> u32 {
        0
    }
    pub fn pc(&self) -> u32 {
        self.registers[15]
    }
    /// Forgets decoded instructions: call after code changed behind the core's back.
    pub fn invalidate_code(&mut self) {}
    /// Starts counting executions of the instruction at `address`; returns the index for [`Core::executions`].
    pub fn watch_execution(&mut self, _address: u32) -> usize {
        0
    }
    pub fn executions(&self, _index: usize) -> u64 {
        0
    }
}
