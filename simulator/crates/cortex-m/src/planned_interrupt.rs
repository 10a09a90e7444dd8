//! An interrupt that the board itself pends, at a chosen cycle, and what becomes of it.
//!
//! It is pended as SysTick pends its own: in the middle of a multiple load, of an exception's entry,
//! or of sleep, exactly in its cycle.

use crate::nvic::Nvic;

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
    /// Pends `exception` in `cycle`, which is not past. With a priority, enables it then.
    pub fn at(cycle: u64, exception: u8, enable: Option<u8>) -> Planned {
        Planned {
            exception,
            due: cycle,
            enable,
            ..Planned::default()
        }
    }

    /// The cycle in which it pends the exception. NEVER: it does not.
    #[inline(always)]
    pub fn due(&self) -> u64 {
        self.due
    }

    /// Enables its exception, which must be pended now. `noticed`: something may notice that at once.
    #[cold]
    pub fn pend(&mut self, nvic: &mut Nvic, noticed: bool) -> u8 {
        if let Some(priority) = self.enable {
            nvic.set_priority(self.exception, priority);
            nvic.set_enabled(self.exception, true);
        }
        self.due = NEVER;
        self.pended = true;
        self.noticed = noticed;
        self.exception
    }

    /// Whether it will be enabled when it is pended.
    pub fn will_enable(&self) -> bool {
        self.enable.is_some()
    }

    /// The program looks at what is pending, or changes it, or goes to sleep.
    #[inline(always)]
    pub fn notice(&mut self) {
        self.noticed |= self.pended && self.decided.is_none();
    }

    /// The core turns to `exception` in cycle `now`.
    #[inline(always)]
    pub fn decide(&mut self, exception: u8, now: u64) {
        if self.pended && exception == self.exception {
            self.decided.get_or_insert(now);
        }
    }

    #[inline(always)]
    pub fn take(&mut self, exception: u8, now: u64) {
        if self.pended && exception == self.exception {
            self.taken.get_or_insert(now);
        }
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

impl Raised {
    /// Keeps where masks were set. Call after each change of them by an instruction, at `pc`.
    #[inline(always)]
    pub fn note(&mut self, nvic: &Nvic, pc: u32) {
        let now = nvic.masks();
        if now != self.before {
            self.note_changed(now, pc);
        }
    }

    #[inline(never)]
    fn note_changed(&mut self, now: (bool, bool, u8), pc: u32) {
        let before = std::mem::replace(&mut self.before, now);
        if now.0 && !before.0 {
            self.primask = Some(pc);
        }
        if now.1 && !before.1 {
            self.faultmask = Some(pc);
        }
        if now.2 != 0 && now.2 != before.2 {
            self.basepri = Some(pc);
        }
    }
}
