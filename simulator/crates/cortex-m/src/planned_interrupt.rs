//! An interrupt that the board itself pends, at a chosen cycle, and what becomes of it.
//!
//! It is pended as SysTick pends its own: in the middle of a multiple load, of an exception's entry,
//! or of sleep, exactly in its cycle.

use super::timing::Fetch;
use super::Core;

const NEVER: u64 = u64::MAX;

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    pub exception: u8,
    /// It is pended in this cycle. NEVER once it has been.
    due: u64,
    /// Enable it then, at this priority.
    enable: Option<u8>,
    pub pended: bool,
    /// The cycle in which the core turned to it: began its entry, or led one under way to it.
    pub decided: Option<u64>,
    /// The cycle in which its handler was entered.
    pub taken: Option<u64>,
    /// Between the pend and `decided` the program, or its sleep, may have noticed that something was
    /// pending. So the run may have gone another way.
    pub noticed: bool,
}

impl Default for Planned {
    fn default() -> Planned {
        Planned {
            exception: 0,
            due: NEVER,
            enable: None,
            pended: false,
            decided: None,
            taken: None,
            noticed: false,
        }
    }
}

impl Planned {
    /// Whether it will be enabled when it is pended.
    pub fn will_enable(&self) -> bool {
        self.enable.is_some()
    }
}

/// Where the program set the masks that are set now. `None`: it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Raised {
    pub primask: Option<u32>,
    pub faultmask: Option<u32>,
    pub basepri: Option<u32>,
    before: (bool, bool, u8),
}

/// Why an interrupt that is pending is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// The NVIC does not let it through.
    Disabled,
    /// This exception is active, or is taken first: its priority is not lower.
    Handler(u8),
    Primask,
    Faultmask,
    /// The level of BASEPRI.
    Basepri(u8),
}

impl Core {
    /// Pends `exception` in `cycle`, which is not past. With a priority, enables it then.
    pub fn plan_interrupt(&mut self, exception: u8, cycle: u64, enable: Option<u8>) {
        self.observers.planned = Planned {
            exception,
            due: cycle,
            enable,
            ..Planned::default()
        };
        self.leave_fast_loop();
    }

    pub fn planned_interrupt(&self) -> &Planned {
        &self.observers.planned
    }

    /// Where the masks that are set now were set.
    pub fn raised(&self) -> &Raised {
        &self.observers.raised
    }

    /// The cycle of the next exception that the core itself pends. NEVER: none.
    #[inline(always)]
    pub(super) fn next_own_event(&self) -> u64 {
        self.observers
            .planned
            .due
            .min(self.private.systick.next_expiry().unwrap_or(NEVER))
    }

    #[inline(always)]
    pub(super) fn pend_what_is_planned(&mut self, now: u64) {
        if now >= self.observers.planned.due {
            self.pend_planned();
        }
    }

    #[cold]
    fn pend_planned(&mut self) {
        let exception = self.observers.planned.exception;
        if let Some(priority) = self.observers.planned.enable {
            self.exceptions.set_priority(exception, priority);
            self.exceptions.set_enabled(exception, true);
        }
        self.observers.planned.due = NEVER;
        self.observers.planned.pended = true;
        self.observers.planned.noticed =
            self.handling.sleep != super::Sleep::Awake || self.private.scb.sev_on_pend();
        self.pend(exception);
    }

    /// The program looks at what is pending, or changes it, or goes to sleep.
    #[inline(always)]
    pub(super) fn notice_pending(&mut self) {
        self.observers.planned.noticed |=
            self.observers.planned.pended && self.observers.planned.decided.is_none();
    }

    /// The core turns to `exception`.
    #[inline(always)]
    pub(super) fn decide_planned(&mut self, exception: u8) {
        if self.observers.planned.pended && exception == self.observers.planned.exception {
            self.observers
                .planned
                .decided
                .get_or_insert(self.time.cycles);
        }
    }

    #[inline(always)]
    pub(super) fn take_planned(&mut self, exception: u8) {
        if self.observers.planned.pended && exception == self.observers.planned.exception {
            self.observers.planned.taken.get_or_insert(self.time.cycles);
        }
    }

    /// Why `exception`, which is pending, is not taken now. `None`: it is.
    pub fn hold(&self, exception: u8) -> Option<Hold> {
        let exceptions = &self.exceptions;
        if !exceptions.is_enabled(exception) {
            return Some(Hold::Disabled);
        }
        let first = exceptions.preempting();
        let entering = self
            .handling
            .entering
            .as_ref()
            .map(|entry| entry.exception());
        match first.or(entering) {
            Some(first) if first == exception => None,
            Some(other) => Some(Hold::Handler(other)),
            None => self.masks_or_handler(exception),
        }
    }

    fn masks_or_handler(&self, exception: u8) -> Option<Hold> {
        let exceptions = &self.exceptions;
        if let Some(handler) = exceptions.active_above(exception) {
            return Some(Hold::Handler(handler));
        }
        if exceptions.faultmask() {
            return Some(Hold::Faultmask);
        }
        if exceptions.primask() {
            return Some(Hold::Primask);
        }
        exceptions
            .held_by_basepri(exception)
            .then(|| Hold::Basepri(exceptions.basepri()))
    }

    /// The cycle in which the instruction at `pc`, the last that executed, did so. It could not
    /// before `began`.
    pub fn executed_in(&self, began: u64, pc: u32, size: u8) -> u64 {
        if !self.time.model.is_nucleo() {
            return began;
        }
        let (arrives, _) = Fetch::slots(pc, size);
        began.max(self.time.fetch.decoded_at(arrives))
    }

    /// Keeps where masks were set. Call after each change of them by an instruction.
    #[inline(always)]
    pub(super) fn note_masks(&mut self) {
        let now = (
            self.exceptions.primask(),
            self.exceptions.faultmask(),
            self.exceptions.basepri(),
        );
        if now != self.observers.raised.before {
            self.note_changed_masks(now);
        }
    }

    #[inline(never)]
    fn note_changed_masks(&mut self, now: (bool, bool, u8)) {
        let before = self.observers.raised.before;
        let raised = &mut self.observers.raised;
        if now.0 && !before.0 {
            raised.primask = Some(self.registers.pc);
        }
        if now.1 && !before.1 {
            raised.faultmask = Some(self.registers.pc);
        }
        if now.2 != 0 && now.2 != before.2 {
            raised.basepri = Some(self.registers.pc);
        }
        raised.before = now;
    }
}
