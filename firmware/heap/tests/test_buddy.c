/* Buddy systems: how large a block a request gets, which neighbours merge, in which order blocks
 * come back. */
#include <string.h>

#include "bench.h"
#include "harness.h"

/** Bytes before a payload, of the published format. Where blocks lie, models.py predicts. */
static size_t header_bytes(void) {
    return strcmp(heap_allocator_name(), "binary_buddy") == 0 ? 8 : 4;
}

static size_t free_blocks(void) {
    return heap_read_statistics().free_blocks;
}

/**
 * Resets the heap and uses up the smaller blocks, which tile the rest of a region that the largest
 * do not fill. Only largest ones are left.
 */
static void begin(void) {
    heap_reset();
    heap_statistics now = heap_read_statistics();
    while (now.smallest_free_block < now.largest_free_block) {
        CHECK(heap_allocate(now.smallest_free_block) != NULL);
        now = heap_read_statistics();
    }
}

/** An aligned payload lies inside its block; the word before it leads back, until it is freed. */
static void aligned_payloads_lead_back(void) {
    begin();
    const size_t at_first = free_blocks();
    uint8_t *const first = heap_allocate(1);
    uint8_t *const aligned = heap_allocate_aligned(100, 256);
    CHECK_EQUAL((uintptr_t)aligned % 256, 0);
    CHECK_EQUAL(heap_free(aligned), HEAP_OK);
    CHECK_EQUAL(heap_free(aligned), HEAP_DOUBLE_FREE);
    CHECK_EQUAL(heap_free(first), HEAP_OK);
    CHECK_EQUAL(free_blocks(), at_first);
}

/** One word of a header overwritten: the checker sees it, and nothing once it is restored. */
static void damage_is_seen(void) {
    begin();
    uint8_t *const live = heap_allocate(100);
    uint8_t *const freed = heap_allocate(100);
    (void)heap_allocate(100);
    heap_free(freed);
    const size_t header = header_bytes();
    uint8_t *const words[] = {live - header, freed - header, freed, freed + 4};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        uint8_t sound[4];
        memcpy(sound, words[i], sizeof sound);
        memset(words[i], 0x5A, sizeof sound);
        CHECK(!heap_check());
        memcpy(words[i], sound, sizeof sound);
        CHECK(heap_check());
    }
}

void test_buddy(void) {
    CHECK_EQUAL(heap_region_bytes(), 65536);
    aligned_payloads_lead_back();
    damage_is_seen();
}
