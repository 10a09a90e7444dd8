//! What the C interface asks of a crate.

use core::ptr::NonNull;

/// A payload and what it can hold.
pub type Payload = NonNull<[u8]>;

/// What is free; sizes are payload bytes.
#[repr(C)]
#[derive(Default)]
pub struct FreeSpace {
    pub bytes: usize,
    pub blocks: usize,
    pub smallest_block: usize,
}

/// From the payload bytes of each free block.
impl FromIterator<usize> for FreeSpace {
    fn from_iter<I: IntoIterator<Item = usize>>(blocks: I) -> Self {
        blocks
            .into_iter()
            .fold(Self::default(), |space, payload_bytes| Self {
                bytes: space.bytes + payload_bytes,
                blocks: space.blocks + 1,
                smallest_block: if space.blocks == 0 {
                    payload_bytes
                } else {
                    space.smallest_block.min(payload_bytes)
                },
            })
    }
}

/// One crate's allocator over one region. Payloads are multiples of 8.
pub trait Shipped {
    /// An allocator without a region.
    const EMPTY: Self;

    /// Takes over `bytes` bytes at `region`, 16-byte aligned; called once.
    ///
    /// # Safety
    /// The region is nobody else's from now on.
    unsafe fn init(&mut self, region: NonNull<u8>, bytes: usize);

    /// A payload of at least `size` bytes, not 0, at a multiple of `alignment`, a power of two of
    /// at least 8.
    fn allocate(&mut self, size: usize, alignment: usize) -> Option<Payload>;

    /// The crate has a reallocation of its own.
    const REALLOCATES: bool = false;

    /// Makes `payload` hold `size` bytes, not 0, here or elsewhere. `None`: it stays as it was.
    ///
    /// # Safety
    /// `payload` is live.
    unsafe fn reallocate(&mut self, _payload: NonNull<u8>, _size: usize) -> Option<Payload> {
        None
    }

    /// # Safety
    /// `payload` is live.
    unsafe fn free(&mut self, payload: NonNull<u8>);

    /// What the payload can hold.
    ///
    /// # Safety
    /// `payload` is live.
    unsafe fn usable_bytes(payload: NonNull<u8>) -> usize;

    /// Where the block of `payload` begins: its header's first byte.
    ///
    /// # Safety
    /// `payload` is live.
    unsafe fn block_begin(payload: NonNull<u8>) -> NonNull<u8>;

    /// Payload bytes of each free block, by a walk; `None` where the crate shows nobody its blocks.
    fn free_blocks(&self) -> Option<impl Iterator<Item = usize>> {
        None::<core::iter::Empty<_>>
    }
}
