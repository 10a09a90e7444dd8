//! Fast paths for accesses to SRAM that only move bytes. Single accesses take one look at the
//! memory. So do the runs of words of LDM, STM and frames, if no exception can come between two
//! words. The result is the same as by `load` and `store`.

use super::data_access::Guard;
use super::Core;
use crate::bus::Bus;

impl Core {
    /// Whether no exception can be taken during a run of `words` transfers (see
    /// `interrupted_instructions`).
    #[inline(always)]
    pub(super) fn runs_through(&self, words: u32) -> bool {
        self.time.cycles.max(self.time.data_free) + u64::from(words) <= self.fast.horizon
    }

    /// The bytes at `address`. `None`, with nothing done, if loading them may do anything else.
    #[inline(always)]
    pub(super) fn load_plain<const N: usize, B: Bus>(
        &mut self,
        bus: &mut B,
        address: u32,
    ) -> Option<[u8; N]> {
        if self.fast.guard != Guard::None {
            return None;
        }
        let bytes = *bus.plain_bytes(address)?;
        self.time.cycles = self.time.cycles.max(self.time.data_free);
        Some(bytes)
    }

    /// Stores `bytes`. False, with nothing done, if storing them may do anything else.
    #[inline(always)]
    pub(super) fn store_plain<const N: usize, B: Bus>(
        &mut self,
        bus: &mut B,
        address: u32,
        bytes: [u8; N],
    ) -> bool {
        if self.fast.guard != Guard::None || self.fast.code.may_hold(address) {
            return false;
        }
        let Some(place) = bus.plain_bytes(address) else {
            return false;
        };
        *place = bytes;
        self.fast.busy_wait.disturb();
        self.time.cycles = self.time.cycles.max(self.time.data_free);
        self.buffer_store(0, 0);
        true
    }

    /// The words from `address` on. `None`, with nothing done, if they must be loaded one by one.
    #[inline(always)]
    pub(super) fn load_run<'a, B: Bus>(
        &mut self,
        bus: &'a mut B,
        address: u32,
        words: u32,
    ) -> Option<impl Iterator<Item = u32> + 'a> {
        if address & 3 != 0 || self.fast.guard != Guard::None {
            return None;
        }
        let memory = bus.plain_memory(address, 4 * words)?;
        self.time.cycles = self.time.cycles.max(self.time.data_free);
        Some(memory.chunks_exact(4).map(|bytes| {
            let bytes = bytes.try_into().expect("chunks have their length");
            u32::from_le_bytes(bytes)
        }))
    }

    /// The memory of at least one word from `address` on, for the caller to write. `None`, with
    /// nothing done, if the words must be stored one by one.
    #[inline(always)]
    pub(super) fn store_run<'a, B: Bus>(
        &mut self,
        bus: &'a mut B,
        address: u32,
        words: u32,
    ) -> Option<impl Iterator<Item = &'a mut [u8]> + 'a> {
        let last = address.wrapping_add(4 * words).wrapping_sub(4);
        let code = self.fast.code.may_hold_any(address, last);
        if address & 3 != 0 || code || self.fast.guard != Guard::None {
            return None;
        }
        let memory = bus.plain_memory(address, 4 * words)?;
        self.fast.busy_wait.disturb();
        self.time.cycles = self.time.cycles.max(self.time.data_free);
        if self.time.model.is_nucleo() {
            self.time.data_free = self.time.cycles + u64::from(words);
            self.time.pairs.stored(self.time.instructions);
        }
        Some(memory.chunks_exact_mut(4))
    }
}
