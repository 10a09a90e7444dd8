//! How long an interrupt would wait if it were pended in this cycle: the answer of a fork.
//!
//! The run itself goes on undisturbed. For a cycle, a copy of the machine pends the interrupt and runs
//! until its handler's first instruction executes. Until the core turns to the interrupt, the copy
//! does what the run does, unless it notices what is pending. So all cycles up to that one have the
//! same answer, and need no copy of their own.

use crate::Machine;
use cortex_m::{is_wide, Hold, Stop};
use std::fmt;

/// What is pended.
#[derive(Clone, Copy)]
pub struct Question {
    pub exception: u8,
    /// Enable it when it is pended, at this priority (a byte as in the NVIC).
    pub enable: Option<u8>,
    /// A copy gives up at this cycle.
    pub give_up: u64,
}

/// What an interrupt waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The instruction, the exception return or the wake-up under way.
    Instruction,
    /// The flash is busy.
    Flash,
    Disabled,
    /// This exception: its entry, its handler, its return.
    Handler(u8),
    /// Set at this address; `None`: unknown.
    Primask(Option<u32>),
    Faultmask(Option<u32>),
    Basepri(u8, Option<u32>),
    /// Its own entry, and the fetch of its handler's first instruction.
    Entry,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |address: &Option<u32>| address.map_or("?".into(), |a| format!("{a:#010x}"));
        match self {
            Cause::Instruction => write!(f, "instruction"),
            Cause::Flash => write!(f, "flash"),
            Cause::Disabled => write!(f, "disabled"),
            Cause::Handler(exception) => write!(f, "exception {exception}"),
            Cause::Primask(address) => write!(f, "primask {}", at(address)),
            Cause::Faultmask(address) => write!(f, "faultmask {}", at(address)),
            Cause::Basepri(level, address) => write!(f, "basepri {level:#04x} {}", at(address)),
            Cause::Entry => write!(f, "entry"),
        }
    }
}

/// A cause, and how many cycles it held the interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    pub cause: Cause,
    pub cycles: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The handler's first instruction executes in this cycle.
    Taken(u64),
    /// The program cleared what was pending.
    Cleared,
    /// The copy gave up.
    Unanswered,
    /// The program reset the chip.
    Reset,
    /// The simulation could not go on.
    Stopped(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub pended: u64,
    /// The same answer holds for all cycles up to this one.
    pub last: u64,
    /// Where the core was, and in which exception.
    pub pc: u32,
    pub exception: u8,
    /// The core's clock at `pended`, in hertz: numerator and denominator.
    pub core_hz: (u128, u128),
    pub waits: Vec<Wait>,
    pub outcome: Outcome,
}

/// Steps are looked at from so many cycles before the pend on.
const LEAD_CYCLES: u64 = 64;

/// Pends the interrupt in cycle `at`, in a copy of `base`, which must not be beyond.
pub fn ask(base: &Machine, at: u64, question: &Question) -> Answer {
    let mut fork = base.clone();
    fork.core_mut()
        .plan_interrupt(question.exception, at, question.enable);
    let mut course = Course::new(at);
    let outcome = course
        .run(&mut fork, question)
        .unwrap_or_else(|stop| Outcome::Stopped(stop.to_string()));
    course.answer(&fork, outcome)
}

/// The course of a copy.
struct Course {
    at: u64,
    pc: u32,
    exception: u8,
    waits: Vec<Wait>,
}

impl Course {
    fn new(at: u64) -> Course {
        Course {
            at,
            pc: 0,
            exception: 0,
            waits: Vec::new(),
        }
    }

    fn run(&mut self, fork: &mut Machine, question: &Question) -> Result<Outcome, Stop> {
        let lead = self.at.saturating_sub(LEAD_CYCLES);
        while fork.cycles() < lead {
            fork.run_to_event(lead)?;
        }
        loop {
            let (began, pc) = (fork.cycles(), fork.core().pc());
            if began <= self.at {
                (self.pc, self.exception) = (pc, fork.core().registers().ipsr);
            }
            let planned = *fork.core().planned_interrupt();
            if planned.exception != question.exception {
                return Ok(Outcome::Reset);
            }
            let executes = fork.core().about_to_execute();
            let cause = cause_of_wait(fork, question.exception, began >= self.at);
            let asleep = fork.core().asleep();
            let step_end = if asleep { question.give_up } else { began + 1 };
            fork.run_one(step_end)?;
            if planned.taken.is_some() && executes {
                let first = self.first_instruction(fork, began, pc);
                return Ok(Outcome::Taken(first));
            }
            self.wait(cause, began, fork.cycles());
            if fork.cycles() >= question.give_up {
                return Ok(Outcome::Unanswered);
            }
            let planned = fork.core().planned_interrupt();
            let waits = planned.pended && planned.taken.is_none();
            if waits && !fork.core().nvic().is_pending(question.exception) {
                return Ok(Outcome::Cleared);
            }
        }
    }

    /// The cycle in which it executes. It was the next one at `began`.
    fn first_instruction(&mut self, fork: &mut Machine, began: u64, pc: u32) -> u64 {
        let size = if fork.code(pc).is_some_and(is_wide) {
            4
        } else {
            2
        };
        let first = fork.core().pipeline().executed_in(began, pc, size);
        self.wait(Cause::Entry, began, first);
        first
    }

    /// From `began` to `ended` it waited for this. Only what lies behind the pend counts.
    fn wait(&mut self, cause: Cause, began: u64, ended: u64) {
        let cycles = ended.saturating_sub(began.max(self.at));
        match self.waits.last_mut() {
            _ if cycles == 0 => {}
            Some(last) if last.cause == cause => last.cycles += cycles,
            _ => self.waits.push(Wait { cause, cycles }),
        }
    }

    fn answer(self, fork: &Machine, outcome: Outcome) -> Answer {
        let planned = fork.core().planned_interrupt();
        let last = match (&outcome, planned.decided) {
            _ if planned.noticed => self.at,
            (Outcome::Unanswered, None) => fork.cycles(),
            (Outcome::Taken(_), Some(decided)) => decided,
            _ => self.at,
        };
        Answer {
            pended: self.at,
            last: last.max(self.at),
            pc: self.pc,
            exception: self.exception,
            core_hz: fork.timebase().clock(self.at),
            waits: self.waits,
            outcome,
        }
    }
}

/// What the interrupt waits for in the next step, or would if it were pended.
fn cause_of_wait(fork: &Machine, exception: u8, pended: bool) -> Cause {
    let (core, planned) = (fork.core(), fork.core().planned_interrupt());
    let raised = core.raised();
    if planned.taken.is_some() && core.registers().ipsr == exception {
        return Cause::Entry;
    }
    match core.hold(exception) {
        Some(Hold::Disabled) if pended || !planned.will_enable() => Cause::Disabled,
        Some(Hold::Handler(other)) => Cause::Handler(other),
        Some(Hold::Primask) => Cause::Primask(raised.primask),
        Some(Hold::Faultmask) => Cause::Faultmask(raised.faultmask),
        Some(Hold::Basepri(level)) => Cause::Basepri(level, raised.basepri),
        _ if planned.decided.is_some() => Cause::Entry,
        _ if fork.waits_for_flash() => Cause::Flash,
        _ if pended => Cause::Entry,
        _ => Cause::Instruction,
    }
}
