//! A stretch of a run whose instructions are traced: `--trace-window`.

use crate::Machine;
use std::fmt;
use stm32::memory::Memory;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    Cycle(u64),
    /// The instruction at this address.
    Place {
        address: u32,
        name: String,
    },
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Cycle(cycle) => write!(f, "cycle {cycle}"),
            Bound::Place { name, .. } => write!(f, "{name}"),
        }
    }
}

/// What has been of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Before,
    Within,
    Over,
}

/// From the first step that touches `from` to the first behind it that touches `to`. A cycle is
/// touched by the step that is under way in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    from: Bound,
    to: Bound,
    state: State,
}

/// Steps are looked at from so many cycles before the first cycle on.
const LEAD_CYCLES: u64 = 256;

impl Stretch {
    pub fn new(from: Bound, to: Bound) -> Stretch {
        Stretch {
            from,
            to,
            state: State::Before,
        }
    }

    /// The instruction with which it begins.
    pub fn place(&self) -> Option<u32> {
        match self.from {
            Bound::Cycle(_) => None,
            Bound::Place { address, .. } => Some(address),
        }
    }

    /// Whether each instruction must be looked at from now on.
    pub fn looks(&self, machine: &Machine) -> bool {
        match (self.state, &self.from) {
            (State::Before, Bound::Cycle(from)) => machine.cycles() + LEAD_CYCLES >= *from,
            (State::Before, Bound::Place { address, .. }) => {
                Memory::canonical(machine.core().pc()) == *address
            }
            (State::Within, _) => true,
            (State::Over, _) => false,
        }
    }

    /// The cycle at which it must look at each instruction, if it does not yet.
    pub fn deadline(&self) -> u64 {
        match (self.state, &self.from) {
            (State::Before, Bound::Cycle(from)) => from.saturating_sub(LEAD_CYCLES),
            _ => u64::MAX,
        }
    }

    /// The machine has made a step, from `pc` and the cycle `began` on. `executes` says that the step
    /// was that instruction. Whether the step belongs to the stretch.
    pub fn takes(&mut self, machine: &Machine, pc: u32, began: u64, executes: bool) -> bool {
        let ended = machine.cycles();
        let at = |place: u32| executes && Memory::canonical(pc) == place;
        if self.state == State::Before {
            let begins = match self.from {
                Bound::Cycle(cycle) => ended > cycle,
                Bound::Place { address, .. } => at(address),
            };
            if begins {
                self.state = State::Within;
            }
        } else if self.state == State::Within {
            if let Bound::Place { address, .. } = self.to {
                if at(address) {
                    self.state = State::Over;
                    return true;
                }
            }
        }
        if self.state == State::Within && matches!(self.to, Bound::Cycle(cycle) if began >= cycle) {
            self.state = State::Over;
        }
        self.state == State::Within
    }

    /// What did not come, if the run is over.
    pub fn missing(&self) -> Option<&Bound> {
        match self.state {
            State::Before => Some(&self.from),
            State::Within if matches!(self.to, Bound::Place { .. }) => Some(&self.to),
            _ => None,
        }
    }
}
