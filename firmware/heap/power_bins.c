#define POWER_BINS_WITHOUT_INDEX
#include "power_bins.h"

_Static_assert(TAILSCOPE_HEAP_BYTES <= 1u << (POWER_BINS + POWER_BINS_OFFSET),
               "the bins file blocks below 8 MiB: make TAILSCOPE_HEAP_BYTES smaller");

bool power_bins_check(const power_bins *bins, uint32_t free_blocks) {
    uint32_t filed = 0;
    for (uint32_t bin = 0; bin < POWER_BINS; bin++) {
        const heap_block *const head = bins->lists[bin];
        const uint32_t smallest = 1u << (bin + POWER_BINS_OFFSET);
        const bool mapped = (bins->map >> bin & 1u) != 0;
        if (mapped != (head != NULL) ||
            !free_list_check(head, smallest, 2u * smallest - 1u, &filed)) {
            return false;
        }
    }
    return filed == free_blocks && bins->map >> POWER_BINS == 0;
}
