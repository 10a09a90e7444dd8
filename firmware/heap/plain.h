/**
 * allocator.h on an allocator that can initialise, allocate and free, and no more. A file that
 * includes this once, and defines the three functions declared here, is a whole allocator:
 *
 *     #include "plain.h"
 *     static void plain_init(void *region, size_t bytes) { … }
 *     static void *plain_allocate(size_t size) { … }
 *     static void plain_free(void *payload) { … }
 *
 * What it can tell besides, it says by a macro before the include, and promises it in the table
 * beside the file (docs/tutorial/my-allocator.md). What nobody tells is 0, and an alignment above 8
 * is refused. A block then is taken to lie from its payload to the last byte that was asked for.
 */
#pragma once

#include "request.h"

/** Takes over `bytes` bytes at `region`, 16-byte aligned: afterwards nothing is live. */
static void plain_init(void *region, size_t bytes);

/**
 * A payload of `size` bytes, 8-byte aligned, or NULL; `size` is not 0. The bench asks for no more
 * than the region has. The contract asks for up to SIZE_MAX, as your own program may.
 */
static void *plain_allocate(size_t size);

/** Frees a live payload, which is not NULL. */
static void plain_free(void *payload);

#ifdef PLAIN_TELLS_USABLE /* promise: tells_usable */
/** What a live payload can hold, bytes. */
static size_t plain_usable_bytes(const void *payload);
#else
static inline size_t plain_usable_bytes(const void *payload) {
    (void)payload;
    return 0;
}
#endif

#ifdef PLAIN_TELLS_FREE /* no promise: what is counted as free is the allocator's affair */
/** What is free, bytes, in constant time. */
static size_t plain_free_bytes(void);
#else
static inline size_t plain_free_bytes(void) {
    return 0;
}
#endif

BARE_ALLOCATE(plain_allocate(size))

static struct {
    size_t region_bytes; /* 0 without a heap */
    size_t size;         /* of the last request that was served */
} plain;

/* What is not known is not declared: the least that any allocator takes. */
const allocator_overhead_bytes allocator_overhead = {.heap = 0, .block = 0, .smallest_block = 8};
const size_t allocator_largest_alignment = 8;

void allocator_init(void *region, size_t bytes) {
    HEAP_REQUIRE((uintptr_t)region % 8u == 0);
    plain.region_bytes = bytes;
    plain_init(region, bytes);
}

allocator_result allocator_allocate(size_t size) {
    REFUSE_UNLESS_OK(request_judge(size, plain.region_bytes));
    void *const payload = plain_allocate(size);
    if (payload == NULL) {
        return request_refused(HEAP_OUT_OF_MEMORY);
    }
    plain.size = size;
    return request_served(payload, plain_usable_bytes(payload));
}

allocator_result allocator_allocate_aligned(size_t size, size_t alignment) {
    REFUSE_UNLESS_OK(request_judge_aligned(size, alignment, plain.region_bytes));
    return alignment > 8u ? request_refused(HEAP_BAD_ALIGNMENT) : allocator_allocate(size);
}

NO_REALLOCATION

heap_status allocator_free(void *payload) {
    REFUSE_NO_BLOCK(payload, plain.region_bytes == 0);
    plain_free(payload);
    return HEAP_OK;
}

size_t allocator_usable_size(const void *payload) {
    return payload == NULL || plain.region_bytes == 0 ? 0 : plain_usable_bytes(payload);
}

size_t allocator_free_bytes(void) {
    return plain.region_bytes == 0 ? 0 : plain_free_bytes();
}

/** Nobody knows it. The region is the most it can be, and is not 0 where there is a heap. */
size_t allocator_largest_free_block(void) {
    return plain.region_bytes;
}

allocator_free_space allocator_read_free(void) {
    return (allocator_free_space){.bytes = allocator_free_bytes()};
}

allocator_extent allocator_extent_of(const void *payload) {
    const size_t usable_bytes = plain_usable_bytes(payload);
    return extent_around(payload, 0, usable_bytes > plain.size ? usable_bytes : plain.size);
}

size_t allocator_largest_free_extent(void) {
    return ALLOCATOR_UNKNOWN;
}

NO_PROBES

NO_CHECK

const char *allocator_name(void) {
    return "plain"; /* the bench calls it by its file */
}
