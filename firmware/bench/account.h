/**
 * What the heap should hold, by the outcomes of the operations so far. The bench keeps this account
 * itself, in constant time. It does not ask heap_read_statistics() between operations, because that
 * walks the region under the lock, and would delay interrupts where CRIT is low.
 */
#pragma once

#include <stddef.h>

typedef struct {
    size_t live_blocks;
    size_t bytes_in_use; /**< payload bytes as the allocator rounds them */
} heap_account;

/** Adds the live block at `payload`. */
void account_allocated(const void *payload);

/** Takes off a block that held `usable_bytes`, as the allocator said before it was freed. */
void account_freed(size_t usable_bytes);

heap_account account_read(void);
