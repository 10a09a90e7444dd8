//! Accesses to SRAM that do nothing but move bytes, and so need but one look: single ones, and runs of words as LDM, STM and
//! frames transfer them where nothing can come between two transfers. What is left behind is the same as by the general way.

use super::data_access::Guard;
use super::Core;
use crate::bus::Bus;

impl Core {
    /// No exception can be taken between the transfers of a run of so many words (see `interruption`).
    #[inline(always)]
    pub(super) fn runs_through(&self, words: u32) -> bool {
        self.cycles.max(self.data_free) + u64::from(words) <= self.horizon
    }

    /// The bytes at `address`, if loading them does nothing else. `None`, with nothing done, where it may.
    #[inline(always)]
    pub(super) fn load_plain<const N: usize, B: Bus>(
        &mut self,
        bus: &mut B,
        address: u32,
    ) -> Option<[u8; N]> {
        if self.guard != Guard::None {
            return None;
        }
        let bytes = *bus.plain_bytes(address)?;
        self.cycles = self.cycles.max(self.data_free);
        Some(bytes)
    }

    /// Stores where that does nothing else. False, with nothing done, where it may.
    #[inline(always)]
    pub(super) fn store_plain<const N: usize, B: Bus>(
        &mut self,
        bus: &mut B,
        address: u32,
        bytes: [u8; N],
    ) -> bool {
        if self.guard != Guard::None || self.code.may_hold(address) {
            return false;
        }
        let Some(place) = bus.plain_bytes(address) else {
            return false;
        };
        *place = bytes;
        self.busy_wait.disturb();
        self.cycles = self.cycles.max(self.data_free);
        self.buffer_store(0, 0);
        true
    }

    /// Reads a run of words from `address` on. `None`, with nothing done, where the accesses have to be made singly.
    #[inline(always)]
    pub(super) fn load_run<'a, B: Bus>(
        &mut self,
        bus: &'a mut B,
        address: u32,
        words: u32,
    ) -> Option<impl Iterator<Item = u32> + 'a> {
        if address & 3 != 0 || self.guard != Guard::None {
            return None;
        }
        let memory = bus.plain_memory(address, 4 * words)?;
        self.cycles = self.cycles.max(self.data_free);
        Some(memory.chunks_exact(4).map(|bytes| {
            let bytes = bytes.try_into().expect("chunks have their length");
            u32::from_le_bytes(bytes)
        }))
    }

    /// The memory of a run of at least one word from `address` on, for the caller to write. `None`, with nothing done, where the
    /// accesses have to be made singly.
    #[inline(always)]
    pub(super) fn store_run<'a, B: Bus>(
        &mut self,
        bus: &'a mut B,
        address: u32,
        words: u32,
    ) -> Option<impl Iterator<Item = &'a mut [u8]> + 'a> {
        let last = address.wrapping_add(4 * words).wrapping_sub(4);
        let code = self.code.may_hold_any(address, last);
        if address & 3 != 0 || code || self.guard != Guard::None {
            return None;
        }
        let memory = bus.plain_memory(address, 4 * words)?;
        self.busy_wait.disturb();
        self.cycles = self.cycles.max(self.data_free);
        if self.timing.is_nucleo() {
            self.data_free = self.cycles + u64::from(words);
            self.pairs.stored(self.instructions);
        }
        Some(memory.chunks_exact_mut(4))
    }
}
