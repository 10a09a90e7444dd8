//! The way of loads and stores: alignment, bit bands, what guards them, and the fast paths to SRAM that only
//! move bytes. Single accesses take one look at the memory. So do the runs of words of LDM, STM and
//! frames, if no exception can come between two words. The result is the same as by `load` and `store`.

use crate::bus::{Bus, Fault, Loaded, Width};
use crate::memory_map::bit_band;
use crate::registers::Registers;
use crate::scb::{Scb, ACTLR_DISDEFWBUF, FPCCR_USER};
use crate::state::Fast;
use crate::timing::Pipeline;
use crate::trap::{cfsr, Exec, Trap};
use serde::{Deserialize, Serialize};

/// What checks the program's loads and stores before they are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Guard {
    /// Nothing: every fast path may be taken.
    #[default]
    None,
    /// The MPU.
    Mpu,
    /// Data watchpoints, and the MPU too if it is on.
    Watchpoints,
}

/// Reads as the core's bus matrix does: a bit-band alias gives one bit of its word (TRM 3.7).
pub fn read_either_alias<B: Bus>(
    bus: &mut B,
    address: u32,
    width: Width,
    now: u64,
) -> Result<Loaded, Fault> {
    let Some((word, bit)) = bit_band(address) else {
        return bus.read(address, width, now);
    };
    let loaded = bus.read(word, Width::Word, now)?;
    Ok(Loaded {
        value: loaded.value >> bit & 1,
        ..loaded
    })
}

/// `old` with bit number `bit` replaced by bit 0 of `value`: a write to a bit-band alias.
pub fn with_bit(old: u32, bit: u32, value: u32) -> u32 {
    old & !(1 << bit) | (value & 1) << bit
}

/// For whom memory is accessed; it decides about the privilege.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    Instruction,
    /// LDRT, STRT and the like.
    Unprivileged,
    /// Writing or reading an exception frame, with the privilege of the code it belongs to.
    Stacking,
    /// Writing the floating-point part of a frame later, with the privilege recorded in FPCCR.
    LazyStacking,
}

/// The way of loads and stores: who makes them, and what checks them.
#[derive(Clone, Serialize, Deserialize)]
pub struct DataPath {
    /// For whom memory is accessed just now.
    purpose: Purpose,
    /// Follows from `mpu` and `debug`, see [`DataPath::guard_by`].
    #[serde(skip)]
    guard: Guard,
}

impl DataPath {
    pub fn new() -> DataPath {
        DataPath {
            purpose: Purpose::Instruction,
            guard: Guard::None,
        }
    }

    /// Sets what checks accesses.
    pub fn guard_by(&mut self, watchpoints: bool, mpu: bool) {
        self.guard = match (watchpoints, mpu) {
            (true, _) => Guard::Watchpoints,
            (false, true) => Guard::Mpu,
            (false, false) => Guard::None,
        };
    }

    /// Who makes accesses from now on. Returns who did before.
    pub fn act_for(&mut self, purpose: Purpose) -> Purpose {
        std::mem::replace(&mut self.purpose, purpose)
    }

    /// Whether watchpoints must see each access.
    pub fn watches(&self) -> bool {
        self.guard == Guard::Watchpoints
    }

    #[inline(always)]
    pub fn unguarded(&self) -> bool {
        self.guard == Guard::None
    }

    pub fn privileged(&self, registers: &Registers, scb: &Scb) -> bool {
        match self.purpose {
            Purpose::Unprivileged => false,
            Purpose::LazyStacking => scb.fpccr & FPCCR_USER == 0,
            _ => registers.privileged(),
        }
    }

    /// The write buffer reports an error when the instruction is over (TRM 3.3.3), unless
    /// ACTLR.DISDEFWBUF turns the buffer off.
    pub fn buffers(&self, scb: &Scb) -> bool {
        matches!(self.purpose, Purpose::Instruction | Purpose::Unprivileged)
            && scb.actlr & ACTLR_DISDEFWBUF == 0
    }

    /// The bytes at `address`. `None`, with nothing done, if loading them may do anything else.
    #[inline(always)]
    pub fn load_plain<const N: usize, B: Bus>(
        &self,
        bus: &mut B,
        address: u32,
        pipeline: &mut Pipeline,
    ) -> Option<[u8; N]> {
        if !self.unguarded() {
            return None;
        }
        let bytes = *bus.plain_bytes(address)?;
        pipeline.wait_for_store();
        Some(bytes)
    }

    /// Stores `bytes`. False, with nothing done, if storing them may do anything else.
    #[inline(always)]
    pub fn store_plain<const N: usize, B: Bus>(
        &self,
        bus: &mut B,
        address: u32,
        bytes: [u8; N],
        pipeline: &mut Pipeline,
        fast: &mut Fast,
    ) -> bool {
        if !self.unguarded() || fast.code.may_hold(address) {
            return false;
        }
        let Some(place) = bus.plain_bytes(address) else {
            return false;
        };
        *place = bytes;
        fast.busy_wait.disturb();
        pipeline.wait_for_store();
        pipeline.buffer_store(0, 0);
        true
    }

    /// The words from `address` on. `None`, with nothing done, if they must be loaded one by one.
    #[inline(always)]
    pub fn load_run<'a, B: Bus>(
        &self,
        bus: &'a mut B,
        address: u32,
        words: u32,
        pipeline: &mut Pipeline,
    ) -> Option<impl Iterator<Item = u32> + use<'a, B>> {
        if address & 3 != 0 || !self.unguarded() {
            return None;
        }
        let memory = bus.plain_memory(address, 4 * words)?;
        pipeline.wait_for_store();
        Some(memory.chunks_exact(4).map(|bytes| {
            let bytes = bytes.try_into().expect("chunks have their length");
            u32::from_le_bytes(bytes)
        }))
    }

    /// The memory of at least one word from `address` on, for the caller to write. `None`, with
    /// nothing done, if the words must be stored one by one.
    #[inline(always)]
    pub fn store_run<'a, B: Bus>(
        &self,
        bus: &'a mut B,
        address: u32,
        words: u32,
        pipeline: &mut Pipeline,
        fast: &mut Fast,
    ) -> Option<impl Iterator<Item = &'a mut [u8]> + use<'a, B>> {
        let last = address.wrapping_add(4 * words).wrapping_sub(4);
        let code = fast.code.may_hold_any(address, last);
        if address & 3 != 0 || code || !self.unguarded() {
            return None;
        }
        let memory = bus.plain_memory(address, 4 * words)?;
        fast.busy_wait.disturb();
        pipeline.wait_for_store();
        pipeline.buffer_run(words);
        Some(memory.chunks_exact_mut(4))
    }
}

/// Faults unless `address` is aligned to `width`: LDM, LDRD and the like must be (A3.2.1).
pub fn require_aligned(address: u32, width: Width) -> Exec<()> {
    if address & (width.bytes() - 1) != 0 {
        return Err(Trap::usage(cfsr::UNALIGNED));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, Timing};
    use crate::two_memories::{TwoMemories, BYTES, SRAM};

    #[test]
    fn what_is_guarded_takes_no_fast_path() {
        let mut bus = TwoMemories {
            sram: vec![7; BYTES],
            ..TwoMemories::default()
        };
        let (mut fast, mut data) = (Fast::default(), DataPath::new());
        let mut pipeline = Pipeline::new(Model::default(), Timing::Nucleo);
        for (watchpoints, mpu, plain) in [
            (false, false, true),
            (true, false, false),
            (false, true, false),
        ] {
            data.guard_by(watchpoints, mpu);
            let loaded = data.load_plain::<4, _>(&mut bus, SRAM, &mut pipeline);
            assert_eq!(loaded.is_some(), plain);
            let words = data
                .load_run(&mut bus, SRAM, 2, &mut pipeline)
                .map(Iterator::count);
            assert_eq!(words, plain.then_some(2));
            let stored = data.store_plain(&mut bus, SRAM, [7], &mut pipeline, &mut fast);
            assert_eq!(stored, plain);
        }
    }

    #[test]
    fn an_alias_gives_one_bit_of_its_word() {
        let mut bus = TwoMemories {
            sram: vec![0b10, 0, 0, 0],
            ..TwoMemories::default()
        };
        let bit = |bus: &mut _, n: u32| {
            let alias = 0x2200_0000 + 4 * n;
            read_either_alias(bus, alias, Width::Word, 0).unwrap().value
        };
        assert_eq!([bit(&mut bus, 0), bit(&mut bus, 1)], [0, 1]);
        assert_eq!(with_bit(0b10, 0, 3), 0b11);
    }
}
