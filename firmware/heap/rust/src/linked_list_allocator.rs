//! The crate `linked_list_allocator`: first fit over one list of holes in order of address.

use crate::kept_layout::{KeptLayouts, ToldLayouts};
use core::alloc::Layout;
use core::ptr::NonNull;
use linked_list_allocator::Heap;

pub type Chosen = KeptLayouts<Heap>;

impl ToldLayouts for Heap {
    const EMPTY: Self = Self::empty();

    unsafe fn take_over(&mut self, region: NonNull<u8>, bytes: usize) {
        self.init(region.as_ptr(), bytes);
    }

    fn allocate_block(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        self.allocate_first_fit(layout).ok()
    }

    unsafe fn free_block(&mut self, block: NonNull<u8>, layout: Layout) {
        self.deallocate(block, layout);
    }

    fn block_bytes(layout: Layout) -> usize {
        layout.size()
    }
}
