/**
 * Zephyr's sys_heap as it lies in a user's checkout (Apache-2.0). Sizes count in units of 8 bytes,
 * and each power of two has a circular list. In the request's own list the search looks at no more
 * than three chunks before it splits a larger one.
 *
 * In a heap of this size its payloads lie 4 bytes behind a unit. With alignment 8, which Zephyr's
 * own malloc() asks for, a payload begins at the next unit, so a chunk has 8 bytes beside its
 * payload. It can tell its free bytes only with an option that Zephyr has off by default, so they
 * are counted here. The rest is read by a walk, with the functions of its private heap.h.
 */
#include <string.h>
#include <zephyr/sys/sys_heap.h>
#include <zephyr/sys/util.h>

#include "allocators/counted_adapter.h"

/* Its own header, which needs those above. */
#include SYS_HEAP_PRIVATE

#define ALIGNMENT 8u
#define HEADER_BYTES CHUNK_UNIT /* 4, and 4 up to the payload */

static struct sys_heap heap;

/* In 64 KiB: heads of 13 lists and four words before them, rounded up to units, and the mark at the
 * end. */
const allocator_overhead_bytes allocator_overhead = {
    .heap = 80, .block = HEADER_BYTES, .smallest_block = 2u * CHUNK_UNIT};
const size_t allocator_largest_alignment = ANY_ALIGNMENT;

void allocator_init(void *region, size_t bytes) {
    HEAP_REQUIRE((uintptr_t)region % CHUNK_UNIT == 0 && bytes / CHUNK_UNIT <= 0x7FFFFFFFu);
    sys_heap_init(&heap, region, bytes);
    counted.region_bytes = bytes;
    counted.free_bytes = allocator_read_free().bytes;
}

BARE_ALLOCATE(sys_heap_alloc(&heap, size))
BARE_ALLOCATE_ALIGNED(sys_heap_aligned_alloc(&heap, alignment, size))

static void *shipped_allocate(size_t size) {
    return sys_heap_aligned_alloc(&heap, ALIGNMENT, size);
}

static void *shipped_allocate_aligned(size_t size, size_t alignment) {
    return sys_heap_aligned_alloc(&heap, alignment < ALIGNMENT ? ALIGNMENT : alignment, size);
}

static void *shipped_reallocate(void *payload, size_t size) {
    return sys_heap_aligned_realloc(&heap, payload, ALIGNMENT, size);
}

static void shipped_free(void *payload) {
    HEAP_REQUIRE((uintptr_t)payload - (uintptr_t)heap.heap < counted.region_bytes);
    sys_heap_free(&heap, payload);
}

static size_t shipped_usable_bytes(const void *payload) {
    return sys_heap_usable_size(&heap, (void *)(uintptr_t)payload);
}

static size_t payload_bytes(chunkid_t chunk) {
    return chunk_size(heap.heap, chunk) * CHUNK_UNIT - HEADER_BYTES;
}

/** A chunk of one unit is free too, and has no room for a payload. */
allocator_free_space allocator_read_free(void) {
    allocator_free_space space = {0};
    if (counted.region_bytes == 0) {
        return space;
    }
    for (chunkid_t at = right_chunk(heap.heap, 0); at < heap.heap->end_chunk;
         at = right_chunk(heap.heap, at)) {
        const size_t bytes = payload_bytes(at);
        if (!chunk_used(heap.heap, at) && bytes != 0) {
            free_space_add(&space, bytes);
        }
    }
    return space;
}

/** The largest of the chunks that a search looks at in the last list that has any. */
size_t allocator_largest_free_block(void) {
    if (counted.region_bytes == 0 || heap.heap->avail_buckets == 0) {
        return 0;
    }
    const unsigned last_list = 31u - (unsigned)__builtin_clz(heap.heap->avail_buckets);
    chunkid_t at = heap.heap->buckets[last_list].next;
    size_t largest = 0;
    for (unsigned look = 0; look < CONFIG_SYS_HEAP_ALLOC_LOOPS; look++) {
        largest = payload_bytes(at) > largest ? payload_bytes(at) : largest;
        at = next_free_chunk(heap.heap, at);
    }
    return largest;
}

EXTENT_BY_HEADER

size_t allocator_largest_free_extent(void) {
    size_t largest = 0;
    for (chunkid_t at = counted.region_bytes == 0 ? heap.heap->end_chunk
                                                  : right_chunk(heap.heap, 0);
         at < heap.heap->end_chunk; at = right_chunk(heap.heap, at)) {
        const size_t bytes = chunk_size(heap.heap, at) * CHUNK_UNIT;
        largest = !chunk_used(heap.heap, at) && bytes > largest ? bytes : largest;
    }
    return largest;
}

/** Zephyr builds its own checker for debugging only. */
NO_CHECK

ALLOCATOR_NAME
