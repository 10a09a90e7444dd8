/**
 * Half Fit (T. Ogasawara, "An algorithm with constant execution time for dynamic storage
 * allocation", RTCSA 1995): one bin for each power of two. The request is rounded up to a power of
 * two for the search, so that every block of the bin fits. The newest block of the first bin that
 * holds one is taken. What it has above the request (not above the power of two) is split off.
 *
 * The price is incomplete memory use: a block of 120 bytes lies in the bin of 64 and is never found
 * by a request for 65 or more. Up to half of a block's size may be out of a request's reach.
 *
 * Complexity: every operation is a constant number of steps.
 *
 * Probes: always 1, the look at the bitmap.
 */
#include "power_bins.h"

heap_block *heap_index_find(uint32_t size, uint32_t *probes) {
    *probes = 1;
    return power_bins_first_from(power_bin_that_fits(size));
}

bool heap_index_check(uint32_t free_blocks) {
    return power_bins_check(&bins, free_blocks);
}

INDEX_NAME
