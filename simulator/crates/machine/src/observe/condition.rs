//! What ends a run early: `--stop-on`.

use crate::Machine;
use stm32::edges::{Edge, Pin};
use stm32::memory::Memory;

/// What happened in the last step of the machine.
pub struct LastStep<'a> {
    pub machine: &'a Machine,
    /// Edges of this step.
    pub edges: &'a [Edge],
    /// The PC before this step.
    pub pc: u32,
}

/// One condition, and what it remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The pin changes to this level.
    Level { pin: Pin, level: bool },
    /// The pin stays high for more cycles than this.
    Pulse {
        pin: Pin,
        longest_cycles: u64,
        high_since: Option<u64>,
    },
    /// HardFault, MemManage, BusFault or UsageFault is taken.
    Fault { exception: u8 },
    /// The instruction at this address is about to be executed.
    Execution { address: u32, name: String },
}

impl Condition {
    pub fn pin(&self) -> Option<Pin> {
        match self {
            Condition::Level { pin, .. } | Condition::Pulse { pin, .. } => Some(*pin),
            Condition::Fault { .. } | Condition::Execution { .. } => None,
        }
    }

    /// The instruction before which the machine must return.
    pub fn place(&self) -> Option<u32> {
        match self {
            Condition::Execution { address, .. } => Some(*address),
            _ => None,
        }
    }

    /// Whether every instruction must be observed.
    pub fn each_instruction(&self) -> bool {
        matches!(self, Condition::Fault { .. })
    }

    /// The cycle at which the condition is met if nothing happens before.
    pub fn deadline(&self) -> u64 {
        match self {
            Condition::Pulse {
                longest_cycles,
                high_since: Some(since),
                ..
            } => since.saturating_add(*longest_cycles).saturating_add(1),
            _ => u64::MAX,
        }
    }

    /// Whether to stop before the next instruction; then the reason.
    pub fn met_before_next(&self, machine: &Machine) -> Option<String> {
        let Condition::Execution { address, name } = self else {
            return None;
        };
        let core = machine.core();
        let reached = Memory::canonical(core.pc()) == *address && core.about_to_execute();
        reached.then(|| format!("{name} (pc {:#010x}) is reached", core.pc()))
    }

    /// Whether the last step meets the condition; then the reason.
    pub fn met_by(&mut self, step: &LastStep) -> Option<String> {
        match self {
            Condition::Level { pin, level } => level_met(step, *pin, *level),
            Condition::Pulse {
                pin,
                longest_cycles,
                high_since,
            } => pulse_met(step, *pin, *longest_cycles, high_since),
            Condition::Fault { exception } => fault_met(step, exception),
            Condition::Execution { .. } => None,
        }
    }
}

fn level_met(step: &LastStep, pin: Pin, level: bool) -> Option<String> {
    let mut edges = step.edges.iter();
    let edge = edges.find(|edge| edge.pin == pin && edge.level == level)?;
    let level = if level { "high" } else { "low" };
    Some(format!("{pin} went {level} at cycle {}", edge.cycle))
}

fn pulse_met(
    step: &LastStep,
    pin: Pin,
    longest_cycles: u64,
    high_since: &mut Option<u64>,
) -> Option<String> {
    let said = |since: u64, cycles: u64| {
        (cycles > longest_cycles)
            .then(|| format!("{pin} has been high for {cycles} cycles, since cycle {since}"))
    };
    for edge in step.edges.iter().filter(|edge| edge.pin == pin) {
        let before = std::mem::replace(high_since, edge.level.then_some(edge.cycle));
        let met = before.and_then(|since| said(since, edge.cycle - since));
        if met.is_some() {
            return met;
        }
    }
    high_since.and_then(|since| said(since, step.machine.cycles() - since))
}

fn fault_met(step: &LastStep, exception: &mut u8) -> Option<String> {
    let now = (step.machine.core().registers().xpsr() & 0x1FF) as u8;
    let before = std::mem::replace(exception, now);
    let name = match now {
        3 => "HardFault",
        4 => "MemManage",
        5 => "BusFault",
        6 => "UsageFault",
        _ => return None,
    };
    (now != before).then(|| format!("{name} was taken (from pc {:#010x})", step.pc))
}
