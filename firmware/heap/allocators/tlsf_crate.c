/**
 * The crate `tlsf` 1.1.0 (J. Aparicio, MIT or Apache-2.0) as shipped: TLSF with links of 16 bits.
 * ../rust/src/tlsf.rs says with which parameters, ../rust/adapter.c is the rest of allocator.h.
 *
 * A region above 64 KiB would become several blocks, and release 1.1.0 computes the place of the
 * second with the wrong sign (ops/initialize.rs, where the step is subtracted). It would lie
 * outside the region.
 */
#include "allocator.h"

_Static_assert(TAILSCOPE_HEAP_BYTES <= 65536,
               "the crate tlsf 1.1.0 manages one block only: at most 65536 bytes");

/* The region's first word is never used, since offset 0 is the crate's "none". */
const allocator_overhead_bytes allocator_overhead = {.heap = 4, .block = 4, .smallest_block = 8};

ALLOCATOR_NAME
