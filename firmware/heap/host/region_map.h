/**
 * Which bytes of the region belong to live blocks. It proves that blocks lie in the region and
 * never overlap, whatever the allocator says of itself.
 */
#ifndef TAILSCOPE_HEAP_HOST_REGION_MAP_H
#define TAILSCOPE_HEAP_HOST_REGION_MAP_H

#include <stdbool.h>

#include "allocator.h"

/** Begins anew: `bytes` bytes at `region`, at most TAILSCOPE_HEAP_BYTES, with nothing live. */
void region_map_reset(const void *region, size_t bytes);

/** Enters a block. False if it is empty, leaves the region, or overlaps a live one. */
bool region_map_enter(allocator_extent block);

/** Takes out what was entered. */
void region_map_leave(allocator_extent block);

#endif
