/**
 * What the heap should hold by the outcomes of the operations so far. The bench keeps it itself, in
 * constant time: heap_read_statistics() walks the region under the lock, and between operations
 * that would delay interrupts in a place where CRIT is low.
 */
#ifndef TAILSCOPE_BENCH_ACCOUNT_H
#define TAILSCOPE_BENCH_ACCOUNT_H

#include <stddef.h>

typedef struct {
    size_t live_blocks;
    size_t bytes_in_use; /**< payload bytes as the allocator rounds them */
} heap_account;

/** Enters the live block at `payload`. */
void account_allocated(const void *payload);

/** Strikes a block that held `usable_bytes`, the allocator's figure from before its free. */
void account_freed(size_t usable_bytes);

heap_account account_read(void);

#endif
