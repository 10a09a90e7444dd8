//! The crate `buddy_system_allocator`: powers of two up to 64 KiB. Buddies are told by their addresses, so a region that
//! does not begin on a multiple of its size is several blocks from the start.

use crate::kept_layout::{around, keep, recall};
use crate::shipped::{Payload, Shipped};
use buddy_system_allocator::Heap;
use core::ptr::NonNull;

const ORDERS: usize = 17;

pub struct Chosen(Heap<ORDERS>);

impl Shipped for Chosen {
    const EMPTY: Self = Self(Heap::new());

    unsafe fn init(&mut self, region: NonNull<u8>, bytes: usize) {
        self.0.init(region.as_ptr() as usize, bytes);
    }

    fn allocate(&mut self, size: usize, alignment: usize) -> Option<Payload> {
        let layout = around(size, alignment)?;
        let block = self.0.alloc(layout).ok()?;
        // Safety: the block was just allocated with this layout.
        unsafe {
            let payload = keep(block, layout);
            Some(NonNull::slice_from_raw_parts(
                payload,
                Self::usable_bytes(payload),
            ))
        }
    }

    unsafe fn free(&mut self, payload: NonNull<u8>) {
        let (block, layout) = recall(payload);
        self.0.dealloc(block, layout);
    }

    /// The whole block of a power of two may be used.
    unsafe fn usable_bytes(payload: NonNull<u8>) -> usize {
        let (block, layout) = recall(payload);
        let block_bytes = layout.size().next_power_of_two().max(layout.align());
        block_bytes - (payload.as_ptr() as usize - block.as_ptr() as usize)
    }
}
