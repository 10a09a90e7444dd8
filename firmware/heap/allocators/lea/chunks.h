/**
 * The chunks of Doug Lea's allocators (newlib's 2.6.5 and dlmalloc 2.8.6), read from outside. They
 * tile the heap. Each begins with a word that belongs to the chunk before it while that one is
 * live, and with its size, whose lowest bit says that the chunk before it is live.
 */
#pragma once

#include "allocator.h"

/* Beside a payload lies its size only: the word before that serves the chunk before as payload. */
#define LEA_HEADER_BYTES 4u
#define LEA_SMALLEST_CHUNK 16u

typedef struct {
    uint32_t predecessor;
    uint32_t head;
} lea_chunk;

/** What lies in the chunks from `first` to the last, `end`, which itself is not looked at. */
typedef struct {
    allocator_free_space free; /**< of the chunks that are free */
    size_t largest;            /**< payload of the largest, 0 if none is free */
    bool sound;                /**< they tile the space exactly, and no two neighbours are free */
} lea_survey;

static inline size_t lea_chunk_bytes(const lea_chunk *chunk) {
    return chunk->head & ~(uint32_t)7u;
}

static inline const lea_chunk *lea_chunk_behind(const lea_chunk *chunk) {
    return (const void *)((uintptr_t)chunk + lea_chunk_bytes(chunk));
}

static inline void lea_count_free(lea_survey *found, size_t payload) {
    free_space_add(&found->free, payload);
    found->largest = payload > found->largest ? payload : found->largest;
}

static inline lea_survey lea_look_around(const lea_chunk *first, const lea_chunk *end) {
    lea_survey found = {.sound = true};
    bool previous_is_free = false;
    for (const lea_chunk *chunk = first; chunk < end; chunk = lea_chunk_behind(chunk)) {
        const size_t room = (uintptr_t)end - (uintptr_t)chunk;
        if (lea_chunk_bytes(chunk) < LEA_SMALLEST_CHUNK || lea_chunk_bytes(chunk) > room) {
            found.sound = false;
            return found;
        }
        const bool is_free = (lea_chunk_behind(chunk)->head & 1u) == 0;
        found.sound = found.sound && !(is_free && previous_is_free);
        previous_is_free = is_free;
        if (is_free) {
            lea_count_free(&found, lea_chunk_bytes(chunk) - LEA_HEADER_BYTES);
        }
    }
    return found;
}
