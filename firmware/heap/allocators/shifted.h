/**
 * Aligned payloads from an allocator that aligns to 8 or 16 only. It is asked for more bytes, and
 * the payload that is handed out begins further in. The word before such a payload is a mark that
 * leads back. Each adapter says how a mark differs from what the allocator itself leaves in the
 * word before a live payload: (word & mask) == tag holds for marks alone.
 */
#pragma once

#include "request.h"

/**
 * A mark counts in units of 8 bytes, in 16 bits. An adapter whose mask takes the highest of them
 * serves half of this.
 */
#define SHIFTED_LARGEST_ALIGNMENT ((size_t)8 << 16)

/** The tag lies in the lower half of the word and may have the highest bit. */
typedef struct {
    uint32_t mask;
    uint32_t tag;
} shifted_mark;

/** What to ask for beyond the size. Payloads are multiples of 8 in any case. */
static inline size_t shifted_extra_bytes(size_t alignment) {
    return alignment > 8u ? alignment - 8u : 0u;
}

static inline uint32_t *shifted_word_before(void *payload) {
    return (uint32_t *)(uintptr_t)((uintptr_t)payload - sizeof(uint32_t));
}

/**
 * Bytes from the allocator's own payload to the live `payload`; 0 if that is the allocator's own.
 */
static inline uint32_t shifted_offset(const void *payload, shifted_mark mark) {
    const uint32_t word = *(const uint32_t *)((uintptr_t)payload - sizeof(uint32_t));
    return (word & mark.mask) == mark.tag ? (word >> 16) * 8u : 0u;
}

/** The aligned payload within the block at `payload`, which may be NULL. */
static inline void *shifted_up(void *payload, size_t alignment, shifted_mark mark) {
    const uintptr_t aligned = ((uintptr_t)payload + alignment - 1u) & ~((uintptr_t)alignment - 1u);
    const uint32_t offset = (uint32_t)(aligned - (uintptr_t)payload);
    if (payload == NULL || offset == 0) {
        return payload;
    }
    void *const shifted = (void *)aligned;
    HEAP_REQUIRE(offset % 8u == 0 && offset < SHIFTED_LARGEST_ALIGNMENT);
    *shifted_word_before(shifted) = mark.tag | (offset / 8u) << 16;
    HEAP_REQUIRE(shifted_offset(shifted, mark) == offset);
    return shifted;
}

/** The allocator's own payload of the live block at `payload`. */
static inline void *shifted_origin(void *payload, shifted_mark mark) {
    return (void *)((uintptr_t)payload - shifted_offset(payload, mark));
}

/** Defines allocator_extent_of(), of blocks that begin `header_bytes` before their own payload. */
#define SHIFTED_EXTENT(mark, header_bytes) \
    allocator_extent allocator_extent_of(const void *payload) { \
        return extent_around(payload, header_bytes + shifted_offset(payload, mark), \
                             allocator_usable_size(payload)); \
    }

/** What the allocator gave, where allocator_usable_size() tells what it holds. */
static inline allocator_result answer(void *payload) {
    return request_answer(payload, payload == NULL ? 0 : allocator_usable_size(payload));
}
