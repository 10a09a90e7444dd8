/**
 * The crate `linked_list_allocator` 0.10.6 (P. Oppermann, Apache-2.0 or MIT) as shipped: first fit
 * over one list of holes in order of address; allocating and freeing walk it. ../rust/adapter.c is
 * the rest of allocator.h.
 */
#include "allocator.h"

/* The crate keeps nothing beside a live block; the 8 bytes are what ../rust/src/kept_layout.rs
 * adds. */
const allocator_overhead_bytes allocator_overhead = {.heap = 0, .block = 8, .smallest_block = 16};

ALLOCATOR_NAME
