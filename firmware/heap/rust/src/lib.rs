#![no_std]
//! Allocators of the Rust world as their crates ship them, behind the C interface of `rust_heap.h`.
//! A feature chooses one, and one must be chosen; the others are not compiled.

mod c_interface;
mod shipped;

#[allow(dead_code)] // two of the crates need none
mod kept_layout;

#[cfg_attr(feature = "tlsf", path = "tlsf.rs")]
#[cfg_attr(feature = "rlsf", path = "rlsf.rs")]
#[cfg_attr(feature = "linked_list_allocator", path = "linked_list_allocator.rs")]
#[cfg_attr(feature = "buddy_system_allocator", path = "buddy_system_allocator.rs")]
#[cfg_attr(feature = "talc", path = "talc.rs")]
mod chosen;
