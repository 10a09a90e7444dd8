/**
 * What an operation costs on this machine: how many basic blocks of the allocator it executes. The
 * compiler calls a function of ours at the beginning of each (-fsanitize-coverage=trace-pc), so the
 * count is exact and the same each time.
 */
#ifndef TAILSCOPE_HEAP_ADVERSARY_BLOCKS_H
#define TAILSCOPE_HEAP_ADVERSARY_BLOCKS_H

#include <stdint.h>

typedef struct {
    uint32_t executed; /**< basic blocks, each as often as it ran */
    uint32_t ways;     /**< tells apart sets of basic blocks; equal for equal sets */
} blocks_counted;

/** Begins to count anew. */
void blocks_begin(void);

/** What was executed since. */
blocks_counted blocks_end(void);

#endif
