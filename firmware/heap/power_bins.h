/**
 * Bins of free blocks, one for each power of two. Bin b is a LIFO list of the sizes from 8·2^b to
 * 16·2^b − 1, or from twice as much if no payload is smaller than 16; a bitmap says which bins hold
 * blocks. Half Fit and its variant each include this once, and define the search and the check.
 */
#pragma once

#include "free_list.h"

/* Up to 1 MiB, or, in host builds for more, 8 MiB. */
#define POWER_BINS ((TAILSCOPE_HEAP_BYTES <= 1u << 20 ? 20u : 23u) - POWER_BINS_OFFSET)
/** The smallest size is 2^3 or 2^4. */
#define POWER_BINS_OFFSET (BLOCK_SMALLEST_PAYLOAD < 16u ? 3u : 4u)

typedef struct {
    heap_block *lists[POWER_BINS];
    uint32_t map; /**< bit b: bin b holds a block */
} power_bins;

/** True if exactly `free_blocks` blocks are filed, each in its bin, and links and bitmap agree. */
bool power_bins_check(const power_bins *bins, uint32_t free_blocks);

#ifndef POWER_BINS_WITHOUT_INDEX
#include "index.h"

static power_bins bins;

/** The bin of `size`. */
static inline uint32_t power_bin_of(uint32_t size) {
    return 31u - (uint32_t)__builtin_clz(size) - POWER_BINS_OFFSET;
}

/** The first bin of which every block holds `size`. */
static inline uint32_t power_bin_that_fits(uint32_t size) {
    return power_bin_of(size - 1u + size);
}

void heap_index_reset(void) {
    bins = (power_bins){.map = 0};
}

void heap_index_insert(heap_block *block) {
    const uint32_t bin = power_bin_of(block_size(block));
    free_list_push(&bins.lists[bin], block);
    bins.map |= 1u << bin;
}

void heap_index_remove(heap_block *block) {
    const uint32_t bin = power_bin_of(block_size(block));
    free_list_unlink(&bins.lists[bin], block);
    if (bins.lists[bin] == NULL) {
        bins.map &= ~(1u << bin);
    }
}

/**
 * The newest block of the first bin from `bin` on that holds one, or NULL; `bin` may lie behind the
 * last.
 */
static inline heap_block *power_bins_first_from(uint32_t bin) {
    const uint32_t candidates = bins.map >> bin << bin;
    return candidates == 0 ? NULL : bins.lists[__builtin_ctz(candidates)];
}
#endif
