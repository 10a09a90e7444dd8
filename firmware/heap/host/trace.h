/**
 * The operations that a program of this folder replays: a file of records of four little-endian
 * words, kind, slot, bytes, alignment. firmware/build/host_heap.py writes it and sees to it that a
 * slot is live when it is freed or resized, and empty when it is allocated into.
 */
#pragma once

#include <stdint.h>

enum { TRACE_ALLOCATE = 1, TRACE_FREE = 2, TRACE_REALLOCATE = 3 };

/** Added to the kind of an allocation (docs/reference/operation-image.md). */
enum { TRACE_RETRY = 256, TRACE_LAST_IF_REFUSED = 512 };

typedef struct {
    uint32_t kind;
    uint32_t slot;
    uint32_t size;
    uint32_t alignment; /**< 0: the allocator's own */
} trace_operation;

/** Defines the region, aligned so, or where the build puts it (CMakeLists.txt). */
#ifdef TAILSCOPE_REGION_HAS_AN_ADDRESS
#define DEFINE_REGION(alignment) \
    __attribute__((section(".region"))) _Alignas(16) uint8_t heap_region[TAILSCOPE_HEAP_BYTES]
#else
#define DEFINE_REGION(alignment) _Alignas(alignment) uint8_t heap_region[TAILSCOPE_HEAP_BYTES]
#endif
