/**
 * The crate `rlsf` 0.2.3 (yvt, MIT or Apache-2.0) as shipped: TLSF in units of 16 bytes.
 * ../rust/src/rlsf.rs says with which parameters, ../rust/adapter.c is the rest of allocator.h.
 */
#include "allocator.h"

/* A block at the end that is never free. */
const allocator_overhead_bytes allocator_overhead = {.heap = 16, .block = 8, .smallest_block = 16};

ALLOCATOR_NAME
