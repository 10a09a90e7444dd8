//! The crate `tlsf`. By default it has all eleven first levels, the most it offers: blocks of up to
//! 62 KiB. The build says otherwise in `TAILSCOPE_FLL`.
//!
//! Its headers have four bytes and its payloads lie on multiples of four. Every request is made an
//! odd number of words long. With its header each block is then a multiple of eight, and since the
//! pool's first payload is aligned, so is every other. Asking for the alignment (`memalign`) would
//! search for 12 bytes more and cut a fragment off the front of every other block.

use crate::shipped::{Payload, Shipped};
use core::alloc::Layout;
use core::mem::{size_of, MaybeUninit};
use core::num::NonZeroU16;
use core::ptr::NonNull;
use tlsf::Tlsf;

const FIRST_LEVELS: usize = match option_env!("TAILSCOPE_FLL") {
    None => 11,
    // ../../allocators/tlsf_crate.cmake refuses all but 1 to 11.
    Some(said) => match usize::from_str_radix(said, 10) {
        Ok(levels) => levels,
        Err(_) => panic!("TAILSCOPE_FLL is no number from 1 to 11"),
    },
};
const ALIGNED_BY_ITSELF: usize = 8;

pub struct Chosen(Tlsf<'static, FIRST_LEVELS>);

/// `size` rounded up to an odd number of words, if 16 bits hold it. The rounding must not overflow:
/// requests are judged before.
fn odd_words(size: usize) -> Option<NonZeroU16> {
    debug_assert!(size <= usize::MAX - 3);
    NonZeroU16::new(u16::try_from(((size + 3) & !7) | 4).ok()?)
}

impl Shipped for Chosen {
    const EMPTY: Self = Self(Tlsf::empty());

    unsafe fn init(&mut self, region: NonNull<u8>, bytes: usize) {
        let words = region.cast::<MaybeUninit<u32>>().as_ptr();
        self.0.initialize(core::slice::from_raw_parts_mut(
            words,
            bytes / size_of::<u32>(),
        ));
    }

    fn allocate(&mut self, size: usize, alignment: usize) -> Option<Payload> {
        let size = odd_words(size)?;
        let found = if alignment <= ALIGNED_BY_ITSELF {
            self.0.malloc(size)?
        } else {
            self.0
                .memalign(Layout::from_size_align(size.get().into(), alignment).ok()?)?
        };
        Some(NonNull::slice_from_raw_parts(
            NonNull::from(&mut *found).cast(),
            size_of_val(found),
        ))
    }

    unsafe fn free(&mut self, payload: NonNull<u8>) {
        self.0.free(payload.cast());
    }

    /// The crate tells a block's size only by a walk of all. It lies in the header's first half,
    /// above two flags.
    unsafe fn usable_bytes(payload: NonNull<u8>) -> usize {
        usize::from(payload.cast::<u16>().sub(2).read() & !3)
    }

    unsafe fn block_begin(payload: NonNull<u8>) -> NonNull<u8> {
        payload.sub(size_of::<u32>())
    }

    fn free_blocks(&self) -> Option<impl Iterator<Item = usize>> {
        let free = self.0.blocks().filter(|block| block.is_free());
        Some(free.map(|block| block.usable_size().into()))
    }
}
