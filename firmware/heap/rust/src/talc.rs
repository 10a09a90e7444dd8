//! The crate `talc` with its own binning: 95 lists of gaps, whose heads it keeps at the beginning of
//! the region. It asks nobody for more memory.

use crate::kept_layout::{KeptLayouts, ToldLayouts};
use core::alloc::{GlobalAlloc, Layout};
use core::mem::size_of;
use core::ptr::{self, NonNull};
use talc::base::{Talc, CHUNK_UNIT};
use talc::source::Manual;
use talc::DefaultBinning;

/// A chunk ends in a word of the crate's own.
const TAG_BYTES: usize = size_of::<usize>();

pub type Chosen = KeptLayouts<Talc<Manual, DefaultBinning>>;

impl ToldLayouts for Talc<Manual, DefaultBinning> {
    const EMPTY: Self = Self::new(Manual);

    unsafe fn take_over(&mut self, region: NonNull<u8>, bytes: usize) {
        self.claim(region.as_ptr(), bytes);
    }

    fn allocate_block(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        // Safety: a layout that is kept has more than 0 bytes.
        unsafe { self.allocate(layout) }
    }

    unsafe fn free_block(&mut self, block: NonNull<u8>, layout: Layout) {
        self.deallocate(block.as_ptr(), layout);
    }

    /// A chunk is a multiple of its unit, and all but its tag may be used.
    fn block_bytes(layout: Layout) -> usize {
        (layout.size() + TAG_BYTES).next_multiple_of(CHUNK_UNIT) - TAG_BYTES
    }
}

/// The compiler wants one wherever the library `alloc` is linked. Nobody calls it.
struct Nothing;

unsafe impl GlobalAlloc for Nothing {
    unsafe fn alloc(&self, _layout: Layout) -> *mut u8 {
        ptr::null_mut()
    }

    unsafe fn dealloc(&self, _block: *mut u8, _layout: Layout) {}
}

#[global_allocator]
static NOTHING: Nothing = Nothing;
