#include "region_map.h"

#include <string.h>

#define GRAIN_BYTES 4u /* every allocator's blocks begin and end on words */

static struct {
    uintptr_t begin, end;
    uint32_t words[TAILSCOPE_HEAP_BYTES / GRAIN_BYTES / 32u + 1u];
} map;

void region_map_reset(const void *region, size_t bytes) {
    map.begin = (uintptr_t)region;
    map.end = map.begin + bytes;
    memset(map.words, 0, bytes / GRAIN_BYTES / 8u + 1u);
}

/** The bits of `word`'s grains that lie in first … last, both included. */
static uint32_t mask(uint32_t word, uint32_t first, uint32_t last) {
    const uint32_t from = word == first / 32u ? UINT32_MAX << first % 32u : UINT32_MAX;
    const uint32_t to = word == last / 32u ? UINT32_MAX >> (31u - last % 32u) : UINT32_MAX;
    return from & to;
}

bool region_map_enter(allocator_extent block) {
    const bool inside = block.begin >= map.begin && block.begin < block.end && block.end <= map.end;
    if (!inside || (block.begin - map.begin) % GRAIN_BYTES != 0) {
        return false;
    }
    const uint32_t first = (block.begin - map.begin) / GRAIN_BYTES;
    const uint32_t last = (block.end - map.begin - 1u) / GRAIN_BYTES;
    for (uint32_t word = first / 32u; word <= last / 32u; word++) {
        if ((map.words[word] & mask(word, first, last)) != 0) {
            return false;
        }
        map.words[word] |= mask(word, first, last);
    }
    return true;
}

void region_map_leave(allocator_extent block) {
    const uint32_t first = (block.begin - map.begin) / GRAIN_BYTES;
    const uint32_t last = (block.end - map.begin - 1u) / GRAIN_BYTES;
    for (uint32_t word = first / 32u; word <= last / 32u; word++) {
        map.words[word] &= ~mask(word, first, last);
    }
}
