//! Prints, for each FLL, what the page calls HEADER_SIZE and MAX_ALLOC_SIZE: one line of FLL, bytes
//! of `Tlsf<FLL>`, and the largest request that a fresh pool of 64 KiB serves. For 32 bits, as the
//! target has.
#![no_main]
#![no_std]

use core::ffi::{c_char, c_int};
use core::mem::{size_of, MaybeUninit};
use core::num::NonZeroU16;
use core::panic::PanicInfo;
use core::ptr::addr_of_mut;
use tlsf::Tlsf;

type Pool = [MaybeUninit<u32>; 65_536 / 4];
static mut POOL: Pool = [MaybeUninit::uninit(); 65_536 / 4];

#[link(name = "c")]
extern "C" {
    fn printf(format: *const c_char, ...) -> c_int;
}

fn serves<const FLL: usize>(size: u16) -> bool {
    // Safety: one thread, and the heap before this one is gone.
    let pool = unsafe { &mut *addr_of_mut!(POOL) };
    let mut heap = Tlsf::<FLL>::empty();
    heap.initialize(pool);
    NonZeroU16::new(size).is_some_and(|size| heap.malloc(size).is_some())
}

/// The last size from 1 on that is served, if none above it is; else 0.
fn largest<const FLL: usize>() -> u16 {
    let served = (1..=u16::MAX).take_while(|&size| serves::<FLL>(size));
    let last = served.last().unwrap_or(0);
    let any_above = (last..=u16::MAX).skip(1).any(serves::<FLL>);
    if any_above {
        0
    } else {
        last
    }
}

fn tell<const FLL: usize>() {
    let bytes = size_of::<Tlsf<FLL>>() as c_int;
    let largest = c_int::from(largest::<FLL>());
    // Safety: the format takes three numbers.
    unsafe { printf(c"%d %d %d\n".as_ptr(), FLL as c_int, bytes, largest) };
}

macro_rules! tell_each {
    ($($fll:literal)*) => { $(tell::<$fll>();)* };
}

#[no_mangle]
pub extern "C" fn main() -> c_int {
    tell_each!(1 2 3 4 5 6 7 8 9 10 11);
    0
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    loop {}
}
