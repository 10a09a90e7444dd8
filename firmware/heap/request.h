/**
 * How an allocator answers. Requests are judged here before it looks for memory, so that all
 * allocators refuse the same ones, those of others included.
 */
#pragma once

#include "allocator.h"
#include "require.h"

/** HEAP_OK if the allocator shall be asked. A heap before its reset has `region_bytes` 0. */
static inline heap_status request_judge(size_t size, size_t region_bytes) {
    if (size == 0) {
        return HEAP_ZERO_SIZE;
    }
    return size > region_bytes ? HEAP_OUT_OF_MEMORY : HEAP_OK;
}

/**
 * As request_judge(), for an aligned request. Where the format limits alignments, but not below the
 * largest region, the region's size is limit enough. An allocator that serves none above 8 refuses
 * them itself.
 */
static inline heap_status request_judge_aligned(size_t size, size_t alignment,
                                                size_t region_bytes) {
    const bool power_of_two = alignment != 0 && (alignment & (alignment - 1u)) == 0;
    const bool has_limit =
        allocator_largest_alignment > 8u && allocator_largest_alignment < TAILSCOPE_HEAP_BYTES;
    if (size != 0 && (!power_of_two || alignment > region_bytes ||
                      (has_limit && alignment > allocator_largest_alignment))) {
        return HEAP_BAD_ALIGNMENT;
    }
    return request_judge(size, region_bytes);
}

static inline allocator_result request_refused(heap_status status) {
    return (allocator_result){.payload = NULL, .status = status};
}

static inline allocator_result request_served(void *payload, size_t usable_bytes) {
    return (allocator_result){.payload = payload, .usable_bytes = usable_bytes, .status = HEAP_OK};
}

/*
 * REFUSE_… return from the function that uses them where they refuse. NO_… and BARE_… define a
 * whole function, and stand outside of all others.
 */

/** Returns request_refused() from an allocation or reallocation unless `judged` is HEAP_OK. */
#define REFUSE_UNLESS_OK(judged) \
    do { \
        const heap_status status_ = judged; \
        if (status_ != HEAP_OK) { \
            return request_refused(status_); \
        } \
    } while (0)

/** Returns `answer` from an allocation if `judged` is HEAP_OK, else request_refused(). */
#define ANSWER_IF_OK(judged, answer) \
    do { \
        const heap_status status_ = judged; \
        return status_ == HEAP_OK ? answer : request_refused(status_); \
    } while (0)

/** Judges the request of allocator_allocate_aligned(), and returns from it unless it asks for more
 * than the alignment that any payload has. */
#define REFUSE_OR_ALLOCATE(natural_alignment, region_bytes) \
    do { \
        const heap_status status_ = request_judge_aligned(size, alignment, region_bytes); \
        if (status_ != HEAP_OK || alignment <= natural_alignment) { \
            return status_ == HEAP_OK ? allocator_allocate(size) : request_refused(status_); \
        } \
    } while (0)

/** Returns HEAP_NULL or HEAP_MISALIGNED for what no allocator of ours can have handed out. */
#define REFUSE_NO_PAYLOAD(payload) \
    do { \
        if (payload == NULL) { \
            return HEAP_NULL; \
        } \
        if ((uintptr_t)payload % 8u != 0) { \
            return HEAP_MISALIGNED; \
        } \
    } while (0)

/** Returns HEAP_NULL from a free of NULL, and HEAP_FOREIGN from any other if `has_no_heap`. */
#define REFUSE_NO_BLOCK(payload, has_no_heap) \
    do { \
        if (payload == NULL || has_no_heap) { \
            return payload == NULL ? HEAP_NULL : HEAP_FOREIGN; \
        } \
    } while (0)

/** What the allocator gave; NULL is out of memory. */
static inline allocator_result request_answer(void *payload, size_t usable_bytes) {
    return payload == NULL ? request_refused(HEAP_OUT_OF_MEMORY)
                           : request_served(payload, usable_bytes);
}

/**
 * The largest number that `is_served`, by halving: `fits` is, `fails` is not, and all that is
 * served lies below all that is not.
 */
static inline uint32_t request_bisect(uint32_t fits, uint32_t fails, bool (*is_served)(uint32_t)) {
    while (fails - fits > 1u) {
        const uint32_t middle = fits + (fails - fits) / 2u;
        if (is_served(middle)) {
            fits = middle;
        } else {
            fails = middle;
        }
    }
    return fits;
}

/** Defines allocator_reallocate() of an allocator without one of its own: HEAP_UNSUPPORTED. */
#define NO_REALLOCATION \
    allocator_result allocator_reallocate(void *payload, size_t size) { \
        (void)payload; \
        (void)size; \
        return request_refused(HEAP_UNSUPPORTED); \
    }

/** Defines allocator_probes() of one that does not tell what its search looks at: 0. */
#define NO_PROBES \
    uint32_t allocator_probes(void) { \
        return 0; \
    }

/** Defines allocator_check() of one that cannot check its heap: true. */
#define NO_CHECK \
    bool allocator_check(void) { \
        return true; \
    }

#ifndef __arm__ /* no board asks for what these define */
/** Defines allocator_extent_of(), of blocks that begin with their header, right before the payload.
 */
#define EXTENT_BY_HEADER \
    allocator_extent allocator_extent_of(const void *payload) { \
        return extent_around(payload, allocator_overhead.block, allocator_usable_size(payload)); \
    }

/** Defines allocator_largest_free_extent() by the walk of allocator_read_free(). */
#define LARGEST_EXTENT_BY_WALK \
    size_t allocator_largest_free_extent(void) { \
        return with_header(allocator_read_free().largest_block, allocator_overhead.block); \
    }
#else
#define EXTENT_BY_HEADER
#define LARGEST_EXTENT_BY_WALK
#endif

/*
 * The allocator behind an adapter, as its own users call it: no judge of ours before it, and
 * nothing added to the size. The contract asks it for more than any region has. NULL is the only
 * right answer. Host tests alone have these. An adapter defines what its library has. Our own
 * allocators judge for themselves, so they define none, and the contract asks allocator_allocate().
 */
#ifdef TAILSCOPE_REQUIRE
/** Defines bare_allocate(): `call` is what the library gives for `size`. */
#define BARE_ALLOCATE(call) \
    void *bare_allocate(size_t size) { \
        return call; \
    }
/** Defines bare_allocate_aligned(): `call` is what it gives for `size` and `alignment`. */
#define BARE_ALLOCATE_ALIGNED(call) \
    void *bare_allocate_aligned(size_t size, size_t alignment) { \
        return call; \
    }
#else
#define BARE_ALLOCATE(call)
#define BARE_ALLOCATE_ALIGNED(call)
#endif
