/**
 * Contract of a whole allocator. Exactly one is linked: the block layer with an index, or a file of
 * allocators/. The facade holds the lock around each call, so an allocator is single-threaded code
 * over one region.
 */
#pragma once

#include "heap.h"

/** Result of an allocation: payload is NULL and usable_bytes 0 unless status is HEAP_OK. */
typedef struct {
    void *payload;
    size_t usable_bytes; /**< what the payload can hold, the requested size or more */
    heap_status status;
} allocator_result;

/** What is free; sizes are payload bytes, 0 where nothing is free. */
typedef struct {
    size_t bytes;
    size_t blocks;
    size_t smallest_block;
#ifndef __arm__ /* no board asks for it, and its code stays as it was measured */
    size_t largest_block;
#endif
} allocator_free_space;

/** What an allocator takes for itself of the region; constants of its format. */
typedef struct {
    uint32_t heap;           /**< once: what no block can use of TAILSCOPE_HEAP_BYTES */
    uint32_t block;          /**< beside the payload of each live block: header, boundary tags */
    uint32_t smallest_block; /**< all that a request for one byte takes, payload and header */
} allocator_overhead_bytes;

/** Where a block lies: from the first byte of its header to the first byte behind it. */
typedef struct {
    uintptr_t begin, end;
} allocator_extent;

/** Linked into every image, where the footprint table reads it. */
extern const allocator_overhead_bytes allocator_overhead;

/**
 * The largest alignment that allocator_allocate_aligned() serves where there is room, a power of
 * two of at least 8. It refuses a larger one with HEAP_BAD_ALIGNMENT, as one above the region's
 * size.
 */
extern const size_t allocator_largest_alignment;

/** Of an allocator whose format limits no alignment. */
#define ANY_ALIGNMENT ((size_t)1 << 31)

/** Notes that `space` has a free block as large as this: where the heap is not a board's. */
static inline void free_space_note_largest(allocator_free_space *space, size_t payload_bytes) {
#ifdef __arm__
    (void)space;
    (void)payload_bytes;
#else
    space->largest_block =
        payload_bytes > space->largest_block ? payload_bytes : space->largest_block;
#endif
}

/** Adds a free block to `space`: what a walk of allocator_read_free() does at each. */
static inline void free_space_add(allocator_free_space *space, size_t payload_bytes) {
    if (space->blocks == 0 || payload_bytes < space->smallest_block) {
        space->smallest_block = payload_bytes;
    }
    free_space_note_largest(space, payload_bytes);
    space->bytes += payload_bytes;
    space->blocks++;
}

/** The extent of a block whose header lies right before its payload. */
static inline allocator_extent extent_around(const void *payload, size_t header_bytes,
                                             size_t usable_bytes) {
    return (allocator_extent){.begin = (uintptr_t)payload - header_bytes,
                              .end = (uintptr_t)payload + usable_bytes};
}

/** All of a free block, of which `payload_bytes` may be used; 0 if there is none. */
static inline size_t with_header(size_t payload_bytes, size_t header_bytes) {
    return payload_bytes == 0 ? 0 : payload_bytes + header_bytes;
}

/** Takes over `bytes` bytes at `region` (16-byte aligned): afterwards nothing is live. */
void allocator_init(void *region, size_t bytes);

allocator_result allocator_allocate(size_t size);

/**
 * As allocator_allocate(); the payload is a multiple of `alignment`, a power of two up to
 * allocator_largest_alignment.
 */
allocator_result allocator_allocate_aligned(size_t size, size_t alignment);

/**
 * Makes the live block at `payload` (not NULL) hold `size` bytes, where it lies or elsewhere with
 * its content. Unless the status is HEAP_OK the block is left as it was. HEAP_UNSUPPORTED if the
 * allocator has no such operation.
 */
allocator_result allocator_reallocate(void *payload, size_t size);

/**
 * Frees the block at `payload`. An allocator that promises `checks_frees` refuses a pointer to no
 * live block, and leaves the heap intact.
 */
heap_status allocator_free(void *payload);

/**
 * How many bytes the live block at `payload` can hold. Called without the lock, and for any pointer
 * that a caller may pass to free: 0 where the allocator can tell that no live block starts there.
 */
size_t allocator_usable_size(const void *payload);

/** Sum of free payload bytes, in constant time. */
size_t allocator_free_bytes(void);

/** Largest payload that one allocation could get now; not for timed code. */
size_t allocator_largest_free_block(void);

/**
 * Counts what is free by a walk, on a damaged heap as far as the headers lead. What cannot be known
 * is 0.
 */
allocator_free_space allocator_read_free(void);

/**
 * All that the live block at `payload` takes of the region: header, slack, rounding, footer. To be
 * asked right after the allocation, for heap_1 keeps nothing of it. Here and below: only where
 * there is a host build.
 */
allocator_extent allocator_extent_of(const void *payload);

/** What allocator_largest_free_extent() returns where it cannot be told. */
#define ALLOCATOR_UNKNOWN ((size_t)UINT32_MAX)

/** Bytes of the largest free block, its header included; 0 if nothing is free. Walks the region. */
size_t allocator_largest_free_extent(void);

/** What the search of the last operation looked at. */
uint32_t allocator_probes(void);

/** True if every invariant holds that the allocator can check; without a checker, always true. */
bool allocator_check(void);

const char *allocator_name(void);

/** Defines it as the build calls the allocator: its file's name (CMakeLists.txt). */
#define ALLOCATOR_NAME \
    const char *allocator_name(void) { \
        return TAILSCOPE_FILE_NAME; \
    }
