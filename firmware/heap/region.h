/**
 * The size of the region. Firmware and contract tests have one region, of TAILSCOPE_HEAP_BYTES. A
 * build with TAILSCOPE_REGION_OF_ANY_SIZE (host/) lays the heap over regions of any size up to
 * that.
 */
#pragma once

#ifdef TAILSCOPE_REGION_OF_ANY_SIZE
#include <stddef.h>

/** What allocator_init() was called with last; its caller sets it first. */
extern size_t heap_region_bytes_now;
#define REGION_BYTES ((uint32_t)heap_region_bytes_now)
#else
#define REGION_BYTES TAILSCOPE_HEAP_BYTES
#endif
