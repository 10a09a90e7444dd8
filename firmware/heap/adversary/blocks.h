/**
 * What an operation costs on this machine: the machine code of the allocator that it executes, in
 * bytes. The compiler calls a function of ours at the beginning of each basic block
 * (-fsanitize-coverage=trace-pc), so the sum is exact and the same each time. It is no forecast of
 * the board's instructions, but grows with them.
 */
#ifndef TAILSCOPE_HEAP_ADVERSARY_BLOCKS_H
#define TAILSCOPE_HEAP_ADVERSARY_BLOCKS_H

#include <stdint.h>

typedef struct {
    uint32_t executed; /**< basic blocks, each as often as it ran */
    uint32_t bytes;    /**< their machine code, each as often as it ran */
    uint32_t ways;     /**< tells apart sets of basic blocks; equal for equal sets */
} blocks_counted;

/** Measures the basic blocks; to be called once, before all else. */
void blocks_measure(void);

/** Begins to count anew. */
void blocks_begin(void);

/** What was executed since. */
blocks_counted blocks_end(void);

#endif
