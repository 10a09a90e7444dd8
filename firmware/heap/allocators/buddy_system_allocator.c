/**
 * The crate `buddy_system_allocator` 0.13.0 (MIT) as shipped: powers of two, buddies by address;
 * freeing scans the list of the block's size for its buddy. ../rust/adapter.c is the rest of
 * allocator.h.
 */
#include "allocator.h"

/* The crate keeps nothing beside a live block; the 8 bytes are what ../rust/src/kept_layout.rs
 * adds. */
const allocator_overhead_bytes allocator_overhead = {.heap = 0, .block = 8, .smallest_block = 16};

ALLOCATOR_NAME
