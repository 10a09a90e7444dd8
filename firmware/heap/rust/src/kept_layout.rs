//! Some crates must be told at a free what was asked for, which C's `free` does not know. So each
//! block keeps its layout in the eight bytes before the payload.

use crate::shipped::{Payload, Shipped};
use core::alloc::Layout;
use core::ptr::NonNull;

/// A crate's allocator that is told each block's layout again when the block is freed.
pub trait ToldLayouts {
    /// An allocator without a region.
    const EMPTY: Self;

    /// # Safety
    /// As `Shipped::init`.
    unsafe fn take_over(&mut self, region: NonNull<u8>, bytes: usize);

    fn allocate_block(&mut self, layout: Layout) -> Option<NonNull<u8>>;

    /// # Safety
    /// `block` is live and was allocated with `layout`.
    unsafe fn free_block(&mut self, block: NonNull<u8>, layout: Layout);

    /// How long a block of this layout is.
    fn block_bytes(layout: Layout) -> usize;
}

/// Such an allocator, with the layouts kept.
pub struct KeptLayouts<A>(A);

impl<A: ToldLayouts> Shipped for KeptLayouts<A> {
    const EMPTY: Self = Self(A::EMPTY);

    unsafe fn init(&mut self, region: NonNull<u8>, bytes: usize) {
        self.0.take_over(region, bytes);
    }

    fn allocate(&mut self, size: usize, alignment: usize) -> Option<Payload> {
        let layout = around(size, alignment)?;
        let block = self.0.allocate_block(layout)?;
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
        self.0.free_block(block, layout);
    }

    unsafe fn usable_bytes(payload: NonNull<u8>) -> usize {
        let (block, layout) = recall(payload);
        A::block_bytes(layout) - (payload.as_ptr() as usize - block.as_ptr() as usize)
    }

    unsafe fn block_begin(payload: NonNull<u8>) -> NonNull<u8> {
        recall(payload).0
    }
}

struct Kept {
    size: u32,
    alignment: u32,
}

const KEPT_BYTES: usize = size_of::<Kept>();
const UNIT_BYTES: usize = 8;
const _: () = assert!(KEPT_BYTES == UNIT_BYTES);

/// Bytes before the payload: a multiple of its alignment, and enough for the kept layout.
fn front(alignment: usize) -> usize {
    alignment.max(KEPT_BYTES)
}

/// The layout to ask the crate for, so that the kept layout and `size` bytes at a multiple of
/// `alignment` fit.
fn around(size: usize, alignment: usize) -> Option<Layout> {
    let rounded = size.checked_next_multiple_of(UNIT_BYTES)?;
    Layout::from_size_align(rounded.checked_add(front(alignment))?, alignment).ok()
}

/// Keeps `layout` in `block` and returns the payload.
///
/// # Safety
/// `block` was allocated with `layout`, which `around` made.
unsafe fn keep(block: NonNull<u8>, layout: Layout) -> NonNull<u8> {
    let payload = block.add(front(layout.align()));
    let kept = Kept {
        size: layout.size() as u32,
        alignment: layout.align() as u32,
    };
    payload.cast::<Kept>().sub(1).write(kept);
    payload
}

/// The block of a live payload, and its layout.
///
/// # Safety
/// `keep` returned `payload`, and it is live.
unsafe fn recall(payload: NonNull<u8>) -> (NonNull<u8>, Layout) {
    let kept = payload.cast::<Kept>().sub(1).read();
    let layout = Layout::from_size_align_unchecked(kept.size as usize, kept.alignment as usize);
    (payload.sub(front(layout.align())), layout)
}
