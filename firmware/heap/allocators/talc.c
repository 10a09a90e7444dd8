/**
 * The crate `talc` 5.1.1 (S. Beautement, MIT) as shipped: boundary tags, and lists of gaps by size
 * with a bitmap. If the lists above the request's have nothing, it walks the request's own.
 * ../rust/src/talc.rs says with which parameters, ../rust/adapter.c is the rest of allocator.h.
 */
#include "allocator.h"

/* The heads of 95 lists and the word before the first chunk. Beside a payload lie the crate's tag
 * and the 8 bytes that ../rust/src/kept_layout.rs adds. */
const allocator_overhead_bytes allocator_overhead = {
    .heap = 384, .block = 12, .smallest_block = 32};

ALLOCATOR_NAME
