/**
 * Half Fit with a search of the request's own bin, called "Half Fit CSTM" in the thesis that
 * describes it. The own bin is walked to the first block that fits. Only then a block is taken from
 * a higher bin, where every block fits.
 *
 * TAILSCOPE_SEARCH_THRESHOLD ends that walk after so many blocks; 0 is no threshold. Without one
 * every block that fits is found, and the search is as long as the bin. In a region of n bytes that
 * is up to n / 56: a step costs a free block of 16 bytes, a live one of 8, and their headers. With
 * a threshold the search is bounded, and memory use is incomplete: a block behind the threshold is
 * not found.
 *
 * Complexity: filing takes constant time, a search as many steps as the bin has blocks, or the
 * threshold.
 *
 * Probes: one for each block looked at in the own bin, one for the look at the bitmap if it came to
 * that.
 */
#include "power_bins.h"

#define SEARCH_LIMIT (TAILSCOPE_SEARCH_THRESHOLD == 0 ? UINT32_MAX : TAILSCOPE_SEARCH_THRESHOLD)

/**
 * The first block that holds `size` among the bin's first SEARCH_LIMIT ones, or NULL. Counts what
 * it looks at.
 */
static heap_block *search_bin(uint32_t bin, uint32_t size, uint32_t *looked_at) {
    heap_block *block = bin < POWER_BINS ? bins.lists[bin] : NULL;
    for (; block != NULL && *looked_at < SEARCH_LIMIT; block = free_list_links(block)->next) {
        (*looked_at)++;
        if (block_size(block) >= size) {
            return block;
        }
    }
    return NULL;
}

heap_block *heap_index_find(uint32_t size, uint32_t *probes) {
    const uint32_t own = power_bin_of(size);
    uint32_t looked_at = 0;
    heap_block *found = search_bin(own, size, &looked_at);
    if (found == NULL) {
        looked_at++;
        found = power_bins_first_from(own + 1u);
    }
    *probes = looked_at;
    return found;
}

bool heap_index_check(uint32_t free_blocks) {
    return power_bins_check(&bins, free_blocks);
}

INDEX_NAME
