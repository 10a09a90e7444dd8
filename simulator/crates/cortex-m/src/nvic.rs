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

/// The exceptions whose priority can be set.
const CONFIGURABLE: u128 = 1 << MEM_MANAGE
    | 1 << BUS_FAULT
    | 1 << USAGE_FAULT
    | 1 << SVCALL
    | 1 << DEBUG_MONITOR
    | 1 << PENDSV
    | 1 << SYSTICK
    | ((1 << IRQ_LINES) - 1) << FIRST_IRQ;
const IPR0: u32 = 0xE000_E400;
const SHPR1: u32 = 0xE000_ED18;

/// SHCSR: the bit and the exception of each active, pended and enabled state (B3.2.13).
const SHCSR_ACTIVE: [(u32, u8); 7] = [
    (0, MEM_MANAGE),
    (1, BUS_FAULT),
    (3, USAGE_FAULT),
    (7, SVCALL),
    (8, DEBUG_MONITOR),
    (10, PENDSV),
    (11, SYSTICK),
];
const SHCSR_PENDED: [(u32, u8); 4] = [
    (12, USAGE_FAULT),
    (13, MEM_MANAGE),
    (14, BUS_FAULT),
    (15, SVCALL),
];
const SHCSR_ENABLED: [(u32, u8); 3] = [(16, MEM_MANAGE), (17, BUS_FAULT), (18, USAGE_FAULT)];

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

/// Sets of exceptions are bit masks: bit n is exception n.
#[derive(Clone, Serialize, Deserialize)]
pub struct Nvic {
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
    /// See [`Nvic::used`]. It changes no result.
    #[serde(skip)]
    used: u128,
}

impl Nvic {
    pub fn new(priority_mask: u8) -> Nvic {
        Nvic {
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

    /// PRIMASK, FAULTMASK and BASEPRI.
    #[inline(always)]
    pub fn masks(&self) -> (bool, bool, u8) {
        (self.primask, self.faultmask, self.basepri)
    }

    /// As [`Nvic::set_faultmask`] by an instruction: it cannot set it at HardFault priority or above.
    pub fn change_faultmask(&mut self, set: bool) {
        if !set || self.execution_priority() > -1 {
            self.set_faultmask(set);
        }
    }

    /// BASEPRI_MAX can only mask more.
    pub fn raise_basepri(&mut self, value: u8) {
        let value = value & self.priority_mask;
        if value != 0 && (value < self.basepri || self.basepri == 0) {
            self.set_basepri(value);
        }
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

    /// Whether it was not pending before.
    pub fn pend(&mut self, exception: u8) -> bool {
        let newly = !self.is_pending(exception);
        self.pending |= 1 << exception;
        self.update_preempting();
        newly
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
    /// returns. Whether it pends the exception newly.
    pub fn set_line(&mut self, irq: u16, level: bool) -> bool {
        assert!(
            irq < IRQ_LINES,
            "interrupt line {irq} does not exist: this core has {IRQ_LINES}"
        );
        let bit = 1 << (irq + FIRST_IRQ as u16);
        let newly = level && (self.lines | self.pending) & bit == 0;
        if level && self.lines & bit == 0 {
            self.pending |= bit;
            self.update_preempting();
        }
        self.lines = if level {
            self.lines | bit
        } else {
            self.lines & !bit
        };
        newly
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

    /// Why `exception`, which is pending, is not taken now. `None`: it is. `entering` is the exception
    /// whose handler is being entered.
    pub fn hold(&self, exception: u8, entering: Option<u8>) -> Option<Hold> {
        if !self.is_enabled(exception) {
            return Some(Hold::Disabled);
        }
        match self.preempting.or(entering) {
            Some(first) if first == exception => None,
            Some(other) => Some(Hold::Handler(other)),
            None => self.masks_or_handler(exception),
        }
    }

    fn masks_or_handler(&self, exception: u8) -> Option<Hold> {
        if let Some(handler) = self.active_above(exception) {
            return Some(Hold::Handler(handler));
        }
        if self.faultmask {
            return Some(Hold::Faultmask);
        }
        if self.primask {
            return Some(Hold::Primask);
        }
        let held = self.held_by_basepri(exception);
        held.then_some(Hold::Basepri(self.basepri))
    }

    /// The active exception of the highest priority, if `exception` cannot preempt it.
    fn active_above(&self, exception: u8) -> Option<u8> {
        let highest = members(self.active).min_by_key(|&n| self.group_priority(n))?;
        (self.group_priority(exception) >= self.group_priority(highest)).then_some(highest)
    }

    fn held_by_basepri(&self, exception: u8) -> bool {
        let level = self.group(self.basepri.into());
        self.basepri != 0 && self.group_priority(exception) >= level
    }

    /// Interrupts that were ever enabled, and other exceptions that were ever taken. Bit n is
    /// exception n.
    pub fn used(&self) -> u128 {
        self.used
    }

    /// Registers of interrupts that do not exist read as 0 and ignore writes.
    pub fn read(&self, address: u32) -> u32 {
        let word = (address & 0x7F) / 4;
        let set = match address & 0xF80 {
            0x100 | 0x180 => self.enabled,
            0x200 | 0x280 => self.pending,
            0x300 => self.active,
            0x400.. => return self.read_priorities(address),
            _ => return 0,
        };
        if word < IRQ_WORDS {
            irq_word(set, word)
        } else {
            0
        }
    }

    /// Whether an interrupt is pending that was not before.
    pub fn write(&mut self, address: u32, value: u32) -> bool {
        let (word, set) = ((address & 0x7F) / 4, address & 0x80 == 0);
        let before = self.pending;
        let target = match address & 0xF80 {
            0x100 | 0x180 => &mut self.enabled,
            0x200 | 0x280 => &mut self.pending,
            0x400.. => {
                self.write_priorities(address, value);
                return false;
            }
            _ => return false,
        };
        if word < IRQ_WORDS {
            let mask = u128::from(value) << (u32::from(FIRST_IRQ) + 32 * word);
            *target = if set { *target | mask } else { *target & !mask };
            self.used |= self.enabled & !ALWAYS_ENABLED;
            // A line that is high stays pending (B3.4.1).
            self.pending |= self.lines & !self.active & mask & if set { 0 } else { !0 };
            self.update_preempting();
        }
        self.pending & !before != 0
    }

    /// SHPR1 to SHPR3, or IPR: the priorities of four exceptions.
    pub fn read_priorities(&self, address: u32) -> u32 {
        let first = first_of_priorities(address);
        let of = |n: usize| self.priority.get(first + n).copied().unwrap_or(0);
        u32::from_le_bytes([of(0), of(1), of(2), of(3)])
    }

    pub fn write_priorities(&mut self, address: u32, value: u32) {
        let first = first_of_priorities(address);
        for (n, value) in (first..).zip(value.to_le_bytes()) {
            if n < 128 && CONFIGURABLE >> n & 1 != 0 {
                self.set_priority(n as u8, value);
            }
        }
    }

    /// SHCSR (B3.2.13).
    pub fn shcsr(&self) -> u32 {
        let gather = |bits: &[(u32, u8)], set: u128| -> u32 {
            let bits = bits.iter().map(|&(bit, n)| ((set >> n & 1) as u32) << bit);
            bits.sum()
        };
        gather(&SHCSR_ACTIVE, self.active)
            | gather(&SHCSR_PENDED, self.pending)
            | gather(&SHCSR_ENABLED, self.enabled)
    }

    pub fn write_shcsr(&mut self, value: u32) {
        for (bits, set) in [
            (&SHCSR_ACTIVE[..], &mut self.active),
            (&SHCSR_PENDED, &mut self.pending),
            (&SHCSR_ENABLED, &mut self.enabled),
        ] {
            for &(bit, n) in bits {
                *set = *set & !(1 << n) | u128::from(value >> bit & 1) << n;
            }
        }
        self.update_active_priority();
    }

    /// ICSR (B3.2.4), in the handler of exception `ipsr`.
    pub fn icsr(&self, ipsr: u8) -> u32 {
        let alone = self.active_count() <= 1;
        let flag = |set: bool, bit: u32| (set as u32) << bit;
        u32::from(ipsr)
            | flag(ipsr != 0 && alone, 11)
            | u32::from(self.first_pending().unwrap_or(0)) << 12
            | flag(
                (0..IRQ_WORDS).any(|word| irq_word(self.pending, word) != 0),
                22,
            )
            | flag(self.is_pending(SYSTICK), 26)
            | flag(self.is_pending(PENDSV), 28)
            | flag(self.is_pending(NMI), 31)
    }
}

/// The first exception of the four whose priorities are in SHPR or IPR at `address`.
fn first_of_priorities(address: u32) -> usize {
    let first = match address {
        SHPR1.. => address - SHPR1 + u32::from(MEM_MANAGE),
        _ => address - IPR0 + u32::from(FIRST_IRQ),
    };
    first as usize
}

/// 32 interrupts of a set, as the NVIC's registers show them.
fn irq_word(set: u128, word: u32) -> u32 {
    (set >> (FIRST_IRQ as u32 + 32 * word)) as u32
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
    fn preempting(state: &Nvic) -> Option<u8> {
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
            Nvic {
                faultmask: true, ..
            } => -1,
            Nvic { primask: true, .. } => 0,
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
        let mut state = Nvic::new(0xF0);
        let (mut source, mut taken) = (Random(1), 0);
        for step in 0..200_000 {
            let random = source.next();
            let (on, value) = (random & 1 != 0, (random >> 8) as u8);
            let exception = 2 + (random >> 16) as u8 % 40;
            match random >> 24 & 15 {
                0 => _ = state.pend(exception),
                1 => state.unpend(exception),
                2 => state.set_enabled(exception, on),
                3 => state.set_priority(exception, value),
                4 => _ = state.set_line(u16::from(exception), on),
                5 => state.activate(exception),
                6 | 7 => state.deactivate(exception),
                8 => state.set_active(exception, on && value < 50),
                9 => state.set_basepri(if on { value } else { 0 }),
                10 => state.set_primask(on && value < 50),
                11 => state.set_faultmask(on && value < 50),
                12 => state.hold_back(on && value < 50),
                13 => state.set_prigroup(value % 8),
                14 => _ = state.write(0xE000_E100 | u32::from(!on) << 7, 1 << (value % 32)),
                _ => _ = state.write(0xE000_E200 | u32::from(!on) << 7, 1 << (value % 32)),
            }
            assert_eq!(state.preempting(), preempting(&state), "step {step}");
            taken += u32::from(state.preempting().is_some());
        }
        assert!((20_000..180_000).contains(&taken), "{taken}");
    }

    #[test]
    fn registers_keep_what_the_core_has() {
        let mut nvic = Nvic::new(0xF0);
        for (address, kept) in [
            (SHPR1, 0x00F0_F0F0),
            (SHPR1 + 4, 0xF000_0000),
            (SHPR1 + 8, 0xF0F0_00F0),
            (IPR0 + 92, 0xF0F0_F0F0),
            (IPR0 + 96, 0),
        ] {
            nvic.write_priorities(address, u32::MAX);
            assert_eq!(nvic.read_priorities(address), kept, "{address:#x}");
        }
        assert!(nvic.write(0xE000_E200, 1) && !nvic.write(0xE000_E200, 1));
        assert_eq!((nvic.read(0xE000_E280), nvic.read(0xE000_E20C)), (1, 0));
        nvic.write_shcsr(u32::MAX);
        assert_eq!(nvic.shcsr(), 0x7_FD8B);
    }

    #[test]
    fn what_is_pending_is_held_for_a_reason() {
        let mut nvic = Nvic::new(0xF0);
        nvic.pend(20);
        assert_eq!(nvic.hold(20, None), Some(Hold::Disabled));
        nvic.set_enabled(20, true);
        nvic.set_priority(20, 0x80);
        assert_eq!(nvic.hold(20, None), None);
        nvic.set_basepri(0x40);
        assert_eq!(nvic.hold(20, None), Some(Hold::Basepri(0x40)));
        nvic.set_primask(true);
        assert_eq!(nvic.hold(20, None), Some(Hold::Primask));
        assert_eq!(nvic.hold(20, Some(21)), Some(Hold::Handler(21)));
        nvic.activate(22);
        assert_eq!(nvic.hold(20, None), Some(Hold::Handler(22)));
    }
}
