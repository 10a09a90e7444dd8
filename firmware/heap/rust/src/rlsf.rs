//! The crate `rlsf` with 16 second-level lists, as TLSF's authors and the other TLSFs here, and
//! first levels for 128 KiB.

use crate::shipped::{Payload, Shipped};
use core::alloc::Layout;
use core::ptr::NonNull;
use rlsf::{Tlsf, GRANULARITY};

const FIRST_LEVELS: usize = 13;
const SECOND_LEVELS: usize = 16;

type Lists = Tlsf<'static, u16, u16, FIRST_LEVELS, SECOND_LEVELS>;

pub struct Chosen {
    lists: Lists,
    pool: Option<NonNull<[u8]>>,
}

/// The alignment that `payload` was asked with, as far as the crate tells it apart. Blocks begin on
/// multiples of the granularity and their headers are half as long. So a payload lies on such a
/// multiple only if it was asked with at least that alignment.
fn alignment_of(payload: NonNull<u8>) -> usize {
    if payload.as_ptr() as usize & (GRANULARITY - 1) == 0 {
        GRANULARITY
    } else {
        GRANULARITY / 2
    }
}

/// # Safety
/// `payload` is live.
unsafe fn measured(payload: NonNull<u8>) -> Payload {
    NonNull::slice_from_raw_parts(payload, Lists::allocation_usable_size(payload))
}

impl Shipped for Chosen {
    const EMPTY: Self = Self {
        lists: Tlsf::new(),
        pool: None,
    };

    unsafe fn init(&mut self, region: NonNull<u8>, bytes: usize) {
        let pool = NonNull::slice_from_raw_parts(region, bytes);
        self.pool = self
            .lists
            .insert_free_block_ptr(pool)
            .map(|taken| NonNull::slice_from_raw_parts(region, taken.get()));
    }

    fn allocate(&mut self, size: usize, alignment: usize) -> Option<Payload> {
        let layout = Layout::from_size_align(size, alignment).ok()?;
        // Safety: it was just allocated.
        self.lists
            .allocate(layout)
            .map(|payload| unsafe { measured(payload) })
    }

    const REALLOCATES: bool = true;

    unsafe fn reallocate(&mut self, payload: NonNull<u8>, size: usize) -> Option<Payload> {
        let layout = Layout::from_size_align(size, alignment_of(payload)).ok()?;
        self.lists
            .reallocate(payload, layout)
            .map(|payload| unsafe { measured(payload) })
    }

    unsafe fn free(&mut self, payload: NonNull<u8>) {
        self.lists.deallocate(payload, alignment_of(payload));
    }

    unsafe fn usable_bytes(payload: NonNull<u8>) -> usize {
        Lists::allocation_usable_size(payload)
    }

    /// A header of half the granularity. A payload that was asked with at least the granularity lies
    /// further in, and the word before it leads back (rlsf's UsedBlockPad).
    unsafe fn block_begin(payload: NonNull<u8>) -> NonNull<u8> {
        if alignment_of(payload) == GRANULARITY {
            payload.cast::<NonNull<u8>>().sub(1).read()
        } else {
            payload.sub(GRANULARITY / 2)
        }
    }

    fn free_blocks(&self) -> Option<impl Iterator<Item = usize>> {
        // Safety: `pool` is what `insert_free_block_ptr` took.
        let blocks = unsafe { self.lists.iter_blocks(self.pool?) };
        let free = blocks.filter(|block| !block.is_occupied());
        Some(free.map(|block| block.max_payload_size()))
    }
}
