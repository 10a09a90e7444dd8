//! Which exceptions are enabled, pending and active, and which one the core must take (B1.5, B3.4).

use serde::{Deserialize, Serialize};
use serde_big_array::BigArray;

pub const NMI: u8 = 2;
pub const HARD_FAULT: u8 = 3;
pub const MEM_MANAGE: u8 = 4;
pub const BUS_FAULT: u8 = 5;
pub const USAGE_FAULT: u8 = 6;
pub const SVCALL: u8 = 11;
pub const DEBUG_MONITOR: u8 = 12;
pub const PENDSV: u8 = 14;
pub const SYSTICK: u8 = 15;
/// Exception number of interrupt line 0.
pub const FIRST_IRQ: u8 = 16;
/// Words of 32 interrupt lines. The STM32F401's vectors end at 84 (RM0368, table 38).
pub const IRQ_WORDS: u32 = 3;
pub const IRQ_LINES: u16 = 32 * IRQ_WORDS as u16;

/// The execution priority of a thread that masks nothing: lower than every exception's.
const LOWEST: i16 = 256;
/// NMI, HardFault, SVCall, PendSV and SysTick cannot be disabled.
const ALWAYS_ENABLED: u128 = 1 << NMI | 1 << HARD_FAULT | 1 << SVCALL | 1 << PENDSV | 1 << SYSTICK;

/// What C_MASKINTS holds back.
const HELD_BACK: u128 = !0 << PENDSV;

/// Sets of exceptions are bit masks: bit n is exception n.
#[derive(Clone, Serialize, Deserialize)]
pub struct Exceptions {
    pending: u128,
    active: u128,
    enabled: u128,
    /// Interrupt lines that are high.
    lines: u128,
    #[serde(with = "BigArray")]
    priority: [u8; 128],
    primask: bool,
    faultmask: bool,
    basepri: u8,
    /// C_MASKINTS: a debugger holds back PendSV, SysTick and all interrupts.
    held_back: bool,
    prigroup: u8,
    /// The bits that a priority has.
    priority_mask: u8,
    /// The highest group priority of all active exceptions. Follows from the fields above, see
    /// `update_active_priority`.
    #[serde(skip)]
    active_priority: i16,
    /// The exception that must be taken now. Follows from the fields above, see
    /// `update_preempting`.
    #[serde(skip)]
    preempting: Option<u8>,
    /// See [`Exceptions::used`]. It changes no result.
    #[serde(skip)]
    used: u128,
}

impl Exceptions {
    pub fn new(priority_mask: u8) -> Exceptions {
        Exceptions {
            pending: 0,
            active: 0,
            enabled: ALWAYS_ENABLED,
            lines: 0,
            priority: [0; 128],
            primask: false,
            faultmask: false,
            basepri: 0,
            held_back: false,
            prigroup: 0,
            priority_mask,
            active_priority: LOWEST,
            preempting: None,
            used: 0,
        }
    }

    /// Computes the fields that a snapshot leaves out.
    pub fn rebuild_derived(&mut self) {
        self.update_active_priority();
    }

    pub fn primask(&self) -> bool {
        self.primask
    }

    pub fn set_primask(&mut self, set: bool) {
        self.primask = set;
        self.update_preempting();
    }

    pub fn faultmask(&self) -> bool {
        self.faultmask
    }

    pub fn set_faultmask(&mut self, set: bool) {
        self.faultmask = set;
        self.update_preempting();
    }

    pub fn hold_back(&mut self, held_back: bool) {
        self.held_back = held_back;
        self.update_preempting();
    }

    pub fn prigroup(&self) -> u8 {
        self.prigroup
    }

    pub fn set_prigroup(&mut self, value: u8) {
        self.prigroup = value;
        self.update_active_priority();
    }

    pub fn priority_mask(&self) -> u8 {
        self.priority_mask
    }

    pub fn basepri(&self) -> u8 {
        self.basepri
    }

    pub fn set_basepri(&mut self, value: u8) {
        self.basepri = value & self.priority_mask;
        self.update_preempting();
    }

    pub fn priority(&self, exception: u8) -> u8 {
        self.priority[exception as usize]
    }

    pub fn set_priority(&mut self, exception: u8, value: u8) {
        self.priority[exception as usize] = value & self.priority_mask;
        self.update_active_priority();
    }

    pub fn pend(&mut self, exception: u8) {
        self.pending |= 1 << exception;
        self.update_preempting();
    }

    pub fn unpend(&mut self, exception: u8) {
        self.pending &= !(1 << exception);
        self.update_preempting();
    }

    pub fn is_pending(&self, exception: u8) -> bool {
        self.pending >> exception & 1 != 0
    }

    pub fn is_active(&self, exception: u8) -> bool {
        self.active >> exception & 1 != 0
    }

    pub fn is_enabled(&self, exception: u8) -> bool {
        self.enabled >> exception & 1 != 0
    }

    /// Bit n is exception n.
    pub fn enabled(&self) -> u128 {
        self.enabled
    }

    /// Those of all exceptions, by number.
    pub fn priorities(&self) -> &[u8; 128] {
        &self.priority
    }

    pub fn set_enabled(&mut self, exception: u8, enabled: bool) {
        self.enabled = self.enabled & !(1 << exception) | (enabled as u128) << exception;
        self.update_preempting();
    }

    pub fn set_active(&mut self, exception: u8, active: bool) {
        self.active = self.active & !(1 << exception) | (active as u128) << exception;
        self.update_active_priority();
    }

    /// Call after each change of what is active, or of its priority.
    #[inline(never)]
    fn update_active_priority(&mut self) {
        self.active_priority = members(self.active)
            .map(|n| self.group_priority(n))
            .fold(LOWEST, i16::min);
        self.update_preempting();
    }

    /// Call after each change of what is enabled, pending, active or masked.
    #[inline(always)]
    fn update_preempting(&mut self) {
        self.preempting = match self.pending & self.enabled {
            0 => None,
            waiting => self.preempting_of(waiting),
        };
    }

    pub fn active_count(&self) -> u32 {
        self.active.count_ones()
    }

    /// A rising line pends its exception. A line that stays high pends it again when the handler
    /// returns.
    pub fn set_line(&mut self, irq: u16, level: bool) {
        assert!(
            irq < IRQ_LINES,
            "interrupt line {irq} does not exist: this core has {IRQ_LINES}"
        );
        let bit = 1 << (irq + FIRST_IRQ as u16);
        if level && self.lines & bit == 0 {
            self.pending |= bit;
            self.update_preempting();
        }
        self.lines = if level {
            self.lines | bit
        } else {
            self.lines & !bit
        };
    }

    /// Bit n is the level of interrupt line n.
    pub fn irq_lines(&self) -> u128 {
        self.lines >> FIRST_IRQ
    }

    pub fn activate(&mut self, exception: u8) {
        self.pending &= !(1 << exception);
        self.active |= 1 << exception;
        self.used |= 1 << exception;
        self.active_priority = self.active_priority.min(self.group_priority(exception));
        self.update_preempting();
    }

    pub fn deactivate(&mut self, exception: u8) {
        self.active &= !(1 << exception);
        self.pending |= self.lines & 1 << exception;
        self.faultmask &= exception == NMI;
        self.update_active_priority();
    }

    /// Priority `value` without the bits that only order pending exceptions (B1.5.4).
    fn group(&self, value: i16) -> i16 {
        value & !((2 << self.prigroup) - 1)
    }

    fn fixed_or_configured(&self, exception: u8) -> i16 {
        match exception {
            NMI => -2,
            HARD_FAULT => -1,
            n => self.priority[n as usize].into(),
        }
    }

    fn group_priority(&self, exception: u8) -> i16 {
        match self.fixed_or_configured(exception) {
            fixed if fixed < 0 => fixed,
            configured => self.group(configured),
        }
    }

    /// `ExecutionPriority` (B1.5.4), with `primask` in place of PRIMASK.
    fn execution_priority_with(&self, primask: bool) -> i16 {
        let mut boosted = LOWEST;
        if self.basepri != 0 {
            boosted = self.group(self.basepri.into());
        }
        if primask {
            boosted = 0;
        }
        if self.faultmask {
            boosted = -1;
        }
        self.active_priority.min(boosted)
    }

    pub fn execution_priority(&self) -> i16 {
        self.execution_priority_with(self.primask)
    }

    /// The first pending and enabled exception: of the lowest priority value, then of the lowest
    /// number.
    pub fn first_pending(&self) -> Option<u8> {
        self.first_of(self.pending & self.enabled)
    }

    #[inline(always)]
    fn first_of(&self, set: u128) -> Option<u8> {
        // Usually there is at most one.
        if set & set.wrapping_sub(1) == 0 {
            return members(set).next();
        }
        members(set).min_by_key(|&n| self.fixed_or_configured(n))
    }

    /// The exception that must be taken now.
    #[inline(always)]
    pub fn preempting(&self) -> Option<u8> {
        self.preempting
    }

    #[inline(never)]
    fn preempting_of(&self, waiting: u128) -> Option<u8> {
        let held_back = if self.held_back { HELD_BACK } else { 0 };
        let first = self.first_of(waiting & !held_back)?;
        (self.group_priority(first) < self.execution_priority()).then_some(first)
    }

    /// WFI ends for an exception that would preempt if PRIMASK were clear (B1.5.19).
    pub fn wakes(&self) -> bool {
        self.first_pending()
            .is_some_and(|n| self.group_priority(n) < self.execution_priority_with(false))
    }

    /// Whether `exception` would be taken at once if it were pending.
    pub fn would_preempt(&self, exception: u8) -> bool {
        self.is_enabled(exception) && self.group_priority(exception) < self.execution_priority()
    }

    /// The active exception of the highest priority, if `exception` cannot preempt it.
    pub fn active_above(&self, exception: u8) -> Option<u8> {
        let highest = members(self.active).min_by_key(|&n| self.group_priority(n))?;
        (self.group_priority(exception) >= self.group_priority(highest)).then_some(highest)
    }

    pub fn held_by_basepri(&self, exception: u8) -> bool {
        let level = self.group(self.basepri.into());
        self.basepri != 0 && self.group_priority(exception) >= level
    }

    /// Interrupts that were ever enabled, and other exceptions that were ever taken. Bit n is
    /// exception n.
    pub fn used(&self) -> u128 {
        self.used
    }

    /// 32 interrupt lines as the NVIC's registers show them.
    pub fn irq_word(&self, register: NvicRegister, word: u32) -> u32 {
        let set = match register {
            NvicRegister::Enable => self.enabled,
            NvicRegister::Pending => self.pending,
            NvicRegister::Active => self.active,
        };
        (set >> (FIRST_IRQ as u32 + 32 * word)) as u32
    }

    pub fn write_irq_word(&mut self, register: NvicRegister, word: u32, bits: u32, set: bool) {
        let mask = (bits as u128) << (FIRST_IRQ as u32 + 32 * word);
        let target = match register {
            NvicRegister::Enable => &mut self.enabled,
            NvicRegister::Pending => &mut self.pending,
            NvicRegister::Active => return,
        };
        *target = if set { *target | mask } else { *target & !mask };
        self.used |= self.enabled & !ALWAYS_ENABLED;
        // A line that is high stays pending (B3.4.1).
        self.pending |= self.lines & !self.active & mask & if set { 0 } else { !0 };
        self.update_preempting();
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NvicRegister {
    Enable,
    Pending,
    Active,
}

/// The exception numbers in `set`, ascending.
fn members(mut set: u128) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let n = set.trailing_zeros() as u8;
        set &= set.wrapping_sub(1);
        (n < 128).then_some(n)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// `ExecutionPriority` and what preempts it, computed from the bits alone (B1.5.4).
    fn preempting(state: &Exceptions) -> Option<u8> {
        let group = |n: u8| match n {
            NMI => -2,
            HARD_FAULT => -1,
            n => i32::from(state.priority(n)) >> (state.prigroup + 1) << (state.prigroup + 1),
        };
        let order = |n: &u8| match *n {
            NMI => -2,
            HARD_FAULT => -1,
            n => i32::from(state.priority(n)),
        };
        let active = (1..128).filter(|&n| state.is_active(n)).map(group).min();
        let base = i32::from(state.basepri) >> (state.prigroup + 1) << (state.prigroup + 1);
        let mask = match state {
            Exceptions {
                faultmask: true, ..
            } => -1,
            Exceptions { primask: true, .. } => 0,
            _ if state.basepri != 0 => base,
            _ => 256,
        };
        let waits = |n: &u8| state.is_pending(*n) && state.is_enabled(*n);
        (1..128)
            .filter(|n| waits(n) && !(state.held_back && *n >= PENDSV))
            .min_by_key(order)
            .filter(|&n| group(n) < active.unwrap_or(256).min(mask))
    }

    #[test]
    fn what_preempts_follows_every_change() {
        let mut state = Exceptions::new(0xF0);
        let (mut source, mut taken) = (Random(1), 0);
        for step in 0..200_000 {
            let random = source.next();
            let (on, value) = (random & 1 != 0, (random >> 8) as u8);
            let exception = 2 + (random >> 16) as u8 % 40;
            match random >> 24 & 15 {
                0 => state.pend(exception),
                1 => state.unpend(exception),
                2 => state.set_enabled(exception, on),
                3 => state.set_priority(exception, value),
                4 => state.set_line(u16::from(exception), on),
                5 => state.activate(exception),
                6 | 7 => state.deactivate(exception),
                8 => state.set_active(exception, on && value < 50),
                9 => state.set_basepri(if on { value } else { 0 }),
                10 => state.set_primask(on && value < 50),
                11 => state.set_faultmask(on && value < 50),
                12 => state.hold_back(on && value < 50),
                13 => state.set_prigroup(value % 8),
                14 => state.write_irq_word(NvicRegister::Enable, 0, 1 << (value % 32), on),
                _ => state.write_irq_word(NvicRegister::Pending, 0, 1 << (value % 32), on),
            }
            assert_eq!(state.preempting(), preempting(&state), "step {step}");
            taken += u32::from(state.preempting().is_some());
        }
        assert!((20_000..180_000).contains(&taken), "{taken}");
    }
}
