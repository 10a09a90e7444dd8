//! The crate `linked_list_allocator`: first fit over one list of holes in order of address.

use crate::kept_layout::{around, keep, recall};
use crate::shipped::{Payload, Shipped};
use core::ptr::NonNull;
use linked_list_allocator::Heap;

pub struct Chosen(Heap);

impl Shipped for Chosen {
    const EMPTY: Self = Self(Heap::empty());

    unsafe fn init(&mut self, region: NonNull<u8>, bytes: usize) {
        self.0.init(region.as_ptr(), bytes);
    }

    fn allocate(&mut self, size: usize, alignment: usize) -> Option<Payload> {
        let layout = around(size, alignment)?;
        let block = self.0.allocate_first_fit(layout).ok()?;
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
        self.0.deallocate(block, layout);
    }

    unsafe fn usable_bytes(payload: NonNull<u8>) -> usize {
        let (block, layout) = recall(payload);
        layout.size() - (payload.as_ptr() as usize - block.as_ptr() as usize)
    }
}
