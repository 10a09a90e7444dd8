#![no_std]
//! Allocators of the Rust world as their crates ship them, behind the C interface of `rust_heap.h`.
//! A feature chooses one; the others are not compiled.

#[cfg(not(any(
    feature = "tlsf",
    feature = "rlsf",
    feature = "linked_list_allocator",
    feature = "buddy_system_allocator",
    feature = "talc"
)))]
compile_error!(
    "choose one: --features tlsf, rlsf, linked_list_allocator, buddy_system_allocator or talc"
);

mod c_interface;
mod shipped;

#[cfg(any(
    feature = "linked_list_allocator",
    feature = "buddy_system_allocator",
    feature = "talc"
))]
mod kept_layout;

#[cfg_attr(feature = "tlsf", path = "tlsf.rs")]
#[cfg_attr(feature = "rlsf", path = "rlsf.rs")]
#[cfg_attr(feature = "linked_list_allocator", path = "linked_list_allocator.rs")]
#[cfg_attr(feature = "buddy_system_allocator", path = "buddy_system_allocator.rs")]
#[cfg_attr(feature = "talc", path = "talc.rs")]
mod chosen;
