/** What several suites need to look at a heap from outside. */
#ifndef TAILSCOPE_HEAP_TESTS_BENCH_H
#define TAILSCOPE_HEAP_TESTS_BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "block_layer.h"
#include "heap.h"
#include "suite.h"

/*
 * What each index promises, as heap/README.md publishes it: the tests hold the heap to this and
 * take nothing from the code under test. An index that is not in promise.c fails every suite.
 */

/** Which of the blocks that are large enough a search is sure to find. */
typedef enum {
    FINDS_WHAT_FITS,       /**< every one */
    FINDS_SLOTS,           /**< those that the request rounded up to a slot of TLSF fits */
    FINDS_POWERS,          /**< those that the request rounded up to a power of two fits */
    FINDS_UP_TO_THRESHOLD, /**< those too, and the first few of the request's own bin */
} promise_finds;

typedef struct {
    const char *name;
    promise_finds finds;
    size_t smallest_payload;
    bool by_address; /**< equal blocks are given in order of address, otherwise last in first out */
    bool tree;       /**< links are followed by two subtrees */
} promise;

/** The promise of the index under test. */
const promise *promised(void);

/** Bytes of a block's header. */
size_t promised_header(void);

/** Bytes of the region before the first header, and as many behind the last block. */
size_t promised_margin(void);

/** The payload of the only block of a fresh heap. */
size_t promised_whole(void);

/** How many slots of equal width TLSF divides an octave into. */
size_t promised_slots(void);

/** How many blocks Half Fit with a threshold looks at in a request's own bin; 0 is all of them. */
unsigned promised_threshold(void);

/** The payload that a request for `size` bytes gets. */
size_t promised_payload(size_t size);

/* The published format (heap/README.md), not the code's constants: a change of layout must fail
 * here. The header is that of four words. */
enum { HEADER_BYTES = 16, ALIGNMENT = 8 };

/** Bytes from payload `a` to payload `b`. */
static inline ptrdiff_t distance(const void *a, const void *b) {
    return (const uint8_t *)b - (const uint8_t *)a;
}

static inline heap_block *header_before(void *payload) {
    return (heap_block *)(void *)((uint8_t *)payload - HEADER_BYTES);
}

/** Every byte equals the next one, and the first is `value`. */
static inline bool is_filled_with(const uint8_t *bytes, size_t size, uint8_t value) {
    return size == 0 || (bytes[0] == value && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/** Marsaglia's xorshift32: seeded, so that every run is the same. */
static inline uint32_t next_random(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/**
 * True if the heap is what it is after a reset: sound, one free block over the whole region,
 * nothing live.
 */
static inline bool heap_is_pristine(void) {
    const heap_statistics now = heap_read_statistics();
    return heap_check() && now.free_blocks == 1 && now.free_bytes == promised_whole() &&
           now.live_blocks == 0 && now.bytes_in_use == 0;
}

/** Inverts each bit of a word in turn: the checker sees it, and nothing once it is restored. */
static inline void each_bit_is_seen(void *word) {
    for (int bit = 0; bit < 32; bit++) {
        uint32_t sound;
        memcpy(&sound, word, sizeof sound);
        const uint32_t damaged = sound ^ 1u << bit;
        memcpy(word, &damaged, sizeof damaged);
        CHECK(!heap_check());
        memcpy(word, &sound, sizeof sound);
        CHECK(heap_check());
    }
}

#endif
