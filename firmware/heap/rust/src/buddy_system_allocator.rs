//! The crate `buddy_system_allocator`: powers of two up to 64 KiB. A block's address tells its
//! buddy, so a region that does not begin on a multiple of its size is several blocks from the
//! start.

use crate::kept_layout::{KeptLayouts, ToldLayouts};
use buddy_system_allocator::Heap;
use core::alloc::Layout;
use core::ptr::NonNull;

const ORDERS: usize = 17;

pub type Chosen = KeptLayouts<Heap<ORDERS>>;

impl ToldLayouts for Heap<ORDERS> {
    const EMPTY: Self = Self::new();

    unsafe fn take_over(&mut self, region: NonNull<u8>, bytes: usize) {
        self.init(region.as_ptr() as usize, bytes);
    }

    fn allocate_block(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        self.alloc(layout).ok()
    }

    unsafe fn free_block(&mut self, block: NonNull<u8>, layout: Layout) {
        self.dealloc(block, layout);
    }

    /// The whole block of a power of two may be used.
    fn block_bytes(layout: Layout) -> usize {
        layout.size().next_power_of_two().max(layout.align())
    }
}
