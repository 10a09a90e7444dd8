/**
 * Zephyr's sys_heap as it lies in a user's checkout (Apache-2.0): a circular list for each power of two of units of 8
 * bytes, of which the request's own is searched for at most three chunks before a larger one is split.
 *
 * Its payloads lie 4 bytes behind a unit in a heap of this size. What asks it for alignment 8, as Zephyr's own malloc()
 * does, gets what begins at the next unit, so a chunk has 8 bytes beside the payload.
 * It can tell its free bytes at a price that Zephyr does not pay by default: they are counted here. What is read by
 * walking is read with the functions of its private heap.h.
 */
#include <stdbool.h>
#include <string.h>
#include <zephyr/sys/sys_heap.h>
#include <zephyr/sys/util.h>

#include "allocators/request.h"

/* Its own, which needs what is above. */
#include "lib/heap/heap.h"

#define ALIGNMENT 8u
#define HEADER_BYTES CHUNK_UNIT /* 4, and 4 up to the payload */

static struct sys_heap heap;
static size_t region_bytes;
static size_t free_bytes;

/* In 64 KiB: heads of 13 lists and four words before them, rounded up to units, and the mark at the end. */
const allocator_overhead_bytes allocator_overhead = {.heap = 80, .block = HEADER_BYTES, .smallest_block = 2u * CHUNK_UNIT};

void allocator_init(void *region, size_t bytes) {
    sys_heap_init(&heap, region, bytes);
    region_bytes = bytes;
    free_bytes = allocator_read_free().bytes;
}

static allocator_result answer(void *payload) {
    const size_t usable_bytes = allocator_usable_size(payload);
    free_bytes -= usable_bytes;
    return request_answer(payload, usable_bytes);
}

allocator_result allocator_allocate(size_t size) {
    const heap_status status = request_judge(size, region_bytes);
    return status == HEAP_OK ? answer(sys_heap_aligned_alloc(&heap, ALIGNMENT, size)) : request_refused(status);
}

allocator_result allocator_allocate_aligned(size_t size, size_t alignment) {
    const heap_status status = request_judge_aligned(size, alignment, region_bytes);
    if (status != HEAP_OK) {
        return request_refused(status);
    }
    return answer(sys_heap_aligned_alloc(&heap, alignment < ALIGNMENT ? ALIGNMENT : alignment, size));
}

allocator_result allocator_reallocate(void *payload, size_t size) {
    const heap_status status = request_judge(size, region_bytes);
    if (status != HEAP_OK) {
        return request_refused(status);
    }
    const size_t usable_before = allocator_usable_size(payload);
    void *const moved = sys_heap_aligned_realloc(&heap, payload, ALIGNMENT, size);
    free_bytes += moved == NULL ? 0 : usable_before;
    return answer(moved);
}

heap_status allocator_free(void *payload) {
    if (payload == NULL || region_bytes == 0) {
        return payload == NULL ? HEAP_NULL : HEAP_FOREIGN;
    }
    free_bytes += allocator_usable_size(payload);
    sys_heap_free(&heap, payload);
    return HEAP_OK;
}

size_t allocator_usable_size(const void *payload) {
    return payload == NULL || region_bytes == 0 ? 0 : sys_heap_usable_size(&heap, (void *)(uintptr_t)payload);
}

/** What is not live; of that, 8 bytes go to each further block. */
size_t allocator_free_bytes(void) {
    return free_bytes;
}

static size_t payload_bytes(chunkid_t chunk) {
    return chunk_size(heap.heap, chunk) * CHUNK_UNIT - HEADER_BYTES;
}

/** A chunk of one unit is free too, and has no room for a payload. */
allocator_free_space allocator_read_free(void) {
    allocator_free_space space = {0};
    if (region_bytes == 0) {
        return space;
    }
    for (chunkid_t at = right_chunk(heap.heap, 0); at < heap.heap->end_chunk; at = right_chunk(heap.heap, at)) {
        const size_t bytes = payload_bytes(at);
        if (!chunk_used(heap.heap, at) && bytes != 0) {
            free_space_add(&space, bytes);
        }
    }
    return space;
}

/** The largest that a search looks at in the last list that has any: behind that it does not look. */
size_t allocator_largest_free_block(void) {
    if (region_bytes == 0 || heap.heap->avail_buckets == 0) {
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

uint32_t allocator_probes(void) {
    return 0; /* counted from outside, where that can be done */
}

/** Its own checker is a part of it that Zephyr builds only for debugging. */
bool allocator_check(void) {
    return true;
}

const char *allocator_name(void) {
    return "sys_heap";
}
