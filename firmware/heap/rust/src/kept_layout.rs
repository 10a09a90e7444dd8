//! Some crates want to be told on freeing what was asked for, which C's `free` does not know: each block keeps its layout in
//! the eight bytes before the payload.

use core::alloc::Layout;
use core::ptr::NonNull;

struct Kept {
    size: u32,
    alignment: u32,
}

const KEPT_BYTES: usize = size_of::<Kept>();
const UNIT_BYTES: usize = 8;
const _: () = assert!(KEPT_BYTES == UNIT_BYTES);

/// What lies before the payload: a multiple of its alignment, and at least the kept layout.
fn front(alignment: usize) -> usize {
    alignment.max(KEPT_BYTES)
}

/// The layout to ask the crate for, so that the kept layout and `size` bytes at a multiple of `alignment` fit.
pub fn around(size: usize, alignment: usize) -> Option<Layout> {
    let rounded = size.checked_next_multiple_of(UNIT_BYTES)?;
    Layout::from_size_align(rounded.checked_add(front(alignment))?, alignment).ok()
}

/// Keeps `layout` in `block` and returns the payload.
///
/// # Safety
/// `block` was allocated with `layout`, which `around` made.
pub unsafe fn keep(block: NonNull<u8>, layout: Layout) -> NonNull<u8> {
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
pub unsafe fn recall(payload: NonNull<u8>) -> (NonNull<u8>, Layout) {
    let kept = payload.cast::<Kept>().sub(1).read();
    let layout = Layout::from_size_align_unchecked(kept.size as usize, kept.alignment as usize);
    (payload.sub(front(layout.align())), layout)
}
