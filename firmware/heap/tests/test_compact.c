/* The layout of tlsf_compact: where blocks lie, what a free one says of itself, and that the
 * checker sees damage. */
#include <string.h>

#include "bench.h"
#include "harness.h"

enum { HEADER = 4 };

static uint32_t word_at(const void *address) {
    uint32_t word;
    memcpy(&word, address, sizeof word);
    return word;
}

/**
 * Bit 0: free. Bit 1: the block before is free, and its last word, right before this header, says
 * where it begins.
 */
static void only_a_free_block_is_known_from_behind(void) {
    heap_reset();
    uint8_t *const first = heap_allocate(100);
    uint8_t *const second = heap_allocate(100);
    memset(first, 0x77, 100);
    CHECK_EQUAL(word_at(second - HEADER), 104);
    CHECK_EQUAL(word_at(second - 2 * HEADER), 0x77777777u); /* payload of the first */
    heap_free(first);
    CHECK_EQUAL(word_at(first - HEADER), 104 | 1);
    CHECK_EQUAL(word_at(second - HEADER), 104 | 2);
    CHECK_EQUAL(word_at(second - 2 * HEADER), (uint32_t)(uintptr_t)(first - HEADER));
    CHECK(heap_allocate(100) == first);
    CHECK_EQUAL(word_at(second - HEADER), 104);
}

static void damage_is_seen(void) {
    heap_reset();
    uint8_t *const live = heap_allocate(100);
    uint8_t *const freed = heap_allocate(100);
    uint8_t *const last = heap_allocate(100);
    heap_free(freed);
    uint8_t *const words[] = {live - HEADER, freed - HEADER,    freed,
                              freed + 4,     last - 2 * HEADER, last - HEADER};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        each_bit_is_seen(words[i]);
    }
}

void test_compact(void) {
    CHECK_EQUAL(heap_region_bytes(), 65536);
    only_a_free_block_is_known_from_behind();
    damage_is_seen();
}
