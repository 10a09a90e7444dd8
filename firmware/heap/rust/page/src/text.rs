//! The page's program for "Binary size": its entry returns the addresses of three functions, and
//! nothing else is linked.
#![no_main]
#![no_std]

use core::panic::PanicInfo;
use tlsf::Tlsf;

#[cfg(all(feature = "malloc", feature = "memalign"))]
compile_error!("choose malloc or memalign, as the page does");

#[no_mangle]
fn _start() -> [usize; 3] {
    [
        Tlsf::<2>::free as *const () as usize,
        Tlsf::<2>::initialize as *const () as usize,
        #[cfg(feature = "malloc")]
        {
            Tlsf::<2>::malloc as *const () as usize
        },
        #[cfg(feature = "memalign")]
        {
            Tlsf::<2>::memalign as *const () as usize
        },
    ]
}

/// Never linked: the page promises no panics in what is optimized.
#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    loop {}
}
