/**
 * allocator.h on an allocator of others that cannot tell how much is free. Requests are judged
 * before it sees them, and what it hands out is counted. An adapter includes this once, defines the
 * functions declared here, and sets `counted` in allocator_init(). It defines the rest of
 * allocator.h itself. Before, it may define CAN_REALLOCATE(payload): false if its reallocation
 * cannot take this live payload.
 */
#pragma once

#include "request.h"

#ifndef CAN_REALLOCATE
#define CAN_REALLOCATE(payload) true
#endif

static struct {
    size_t region_bytes; /* 0 without a heap */
    size_t free_bytes;   /* what is not live; what each further block costs is in it */
} counted;

/** What the allocator gives, or NULL; `size` is not 0 and at most the region's. */
static void *shipped_allocate(size_t size);

/** As shipped_allocate(), at a multiple of `alignment`, a power of two. */
static void *shipped_allocate_aligned(size_t size, size_t alignment);

/** The payload resized, here or elsewhere; or NULL, and it stays as it was. */
static void *shipped_reallocate(void *payload, size_t size);

static void shipped_free(void *payload);

/** What a live payload holds. */
static size_t shipped_usable_bytes(const void *payload);

static allocator_result counted_answer(void *payload) {
    const size_t usable_bytes = payload == NULL ? 0 : shipped_usable_bytes(payload);
    HEAP_REQUIRE(usable_bytes <= counted.free_bytes);
    counted.free_bytes -= usable_bytes;
    return request_answer(payload, usable_bytes);
}

allocator_result allocator_allocate(size_t size) {
    ANSWER_IF_OK(request_judge(size, counted.region_bytes), counted_answer(shipped_allocate(size)));
}

allocator_result allocator_allocate_aligned(size_t size, size_t alignment) {
    ANSWER_IF_OK(request_judge_aligned(size, alignment, counted.region_bytes),
                 counted_answer(shipped_allocate_aligned(size, alignment)));
}

allocator_result allocator_reallocate(void *payload, size_t size) {
    REFUSE_UNLESS_OK(request_judge(size, counted.region_bytes));
    REFUSE_UNLESS_OK(CAN_REALLOCATE(payload) ? HEAP_OK : HEAP_UNSUPPORTED);
    const size_t usable_before = shipped_usable_bytes(payload);
    void *const moved = shipped_reallocate(payload, size);
    counted.free_bytes += moved == NULL ? 0 : usable_before;
    return counted_answer(moved);
}

heap_status allocator_free(void *payload) {
    REFUSE_NO_BLOCK(payload, counted.region_bytes == 0);
    counted.free_bytes += shipped_usable_bytes(payload);
    shipped_free(payload);
    return HEAP_OK;
}

size_t allocator_usable_size(const void *payload) {
    return payload == NULL || counted.region_bytes == 0 ? 0 : shipped_usable_bytes(payload);
}

size_t allocator_free_bytes(void) {
    return counted.free_bytes;
}

/** It counts none itself. If it searches at all, they are counted from outside (README, Probes). */
NO_PROBES
