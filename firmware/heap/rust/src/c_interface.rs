//! The functions of `rust_heap.h`. The C facade holds the lock around each call, so no two run at
//! once.

use crate::chosen::Chosen;
use crate::shipped::{FreeSpace, Payload, Shipped};
use core::panic::PanicInfo;
use core::ptr::{self, NonNull};

static mut HEAP: Chosen = Chosen::EMPTY;

/// # Safety
/// Under the facade's lock.
unsafe fn heap() -> &'static mut Chosen {
    &mut *ptr::addr_of_mut!(HEAP)
}

/// # Safety
/// As `Shipped::init`; a heap before this one is forgotten.
#[no_mangle]
pub unsafe extern "C" fn rust_heap_init(region: *mut u8, bytes: usize) {
    ptr::addr_of_mut!(HEAP).write(Chosen::EMPTY);
    heap().init(NonNull::new_unchecked(region), bytes);
}

/// `rust_heap_block`.
#[repr(C)]
pub struct Block {
    payload: *mut u8,
    usable_bytes: usize,
}

impl From<Option<Payload>> for Block {
    fn from(found: Option<Payload>) -> Self {
        match found {
            Some(payload) => Self {
                payload: payload.cast().as_ptr(),
                usable_bytes: payload.len(),
            },
            None => Self {
                payload: ptr::null_mut(),
                usable_bytes: 0,
            },
        }
    }
}

/// # Safety
/// Under the facade's lock; `size` is not 0, `alignment` a power of two of at least 8.
#[no_mangle]
pub unsafe extern "C" fn rust_heap_allocate(size: usize, alignment: usize) -> Block {
    heap().allocate(size, alignment).into()
}

#[no_mangle]
pub extern "C" fn rust_heap_reallocates() -> bool {
    Chosen::REALLOCATES
}

/// # Safety
/// As `Shipped::reallocate`.
#[no_mangle]
pub unsafe extern "C" fn rust_heap_reallocate(payload: *mut u8, size: usize) -> Block {
    heap()
        .reallocate(NonNull::new_unchecked(payload), size)
        .into()
}

/// # Safety
/// As `Shipped::free`.
#[no_mangle]
pub unsafe extern "C" fn rust_heap_free(payload: *mut u8) -> usize {
    let payload = NonNull::new_unchecked(payload);
    let usable_bytes = Chosen::usable_bytes(payload);
    heap().free(payload);
    usable_bytes
}

/// # Safety
/// As `Shipped::usable_bytes`.
#[no_mangle]
pub unsafe extern "C" fn rust_heap_usable_bytes(payload: *const u8) -> usize {
    Chosen::usable_bytes(NonNull::new_unchecked(payload.cast_mut()))
}

/// # Safety
/// Under the facade's lock; `space` may be written.
#[no_mangle]
pub unsafe extern "C" fn rust_heap_read_free(space: *mut FreeSpace) {
    let blocks = heap().free_blocks();
    space.write(blocks.map_or_else(FreeSpace::default, Iterator::collect));
}

/// # Safety
/// Under the facade's lock.
#[no_mangle]
pub unsafe extern "C" fn rust_heap_largest_free() -> usize {
    heap().free_blocks().and_then(Iterator::max).unwrap_or(0)
}

/// # Safety
/// As `Shipped::block_begin`.
#[no_mangle]
pub unsafe extern "C" fn rust_heap_block_begin(payload: *const u8) -> *const u8 {
    Chosen::block_begin(NonNull::new_unchecked(payload.cast_mut())).as_ptr()
}

extern "C" {
    /// Ends the program: a crate found its heap damaged.
    fn rust_heap_panic() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    // Safety: C's, and it does not come back.
    unsafe { rust_heap_panic() }
}
