/* Buddy systems: how large a block a request gets, which neighbours merge, in which order blocks
 * come back. */
#include <string.h>

#include "bench.h"

/** An aligned payload lies inside its block; the word before it leads back, until it is freed. */
static void aligned_payloads_lead_back(void) {
    heap_reset();
    (void)heap_allocate(1);
    uint8_t *const aligned = heap_allocate_aligned(100, 256);
    CHECK_EQUAL(heap_free(aligned), HEAP_OK);
    CHECK_EQUAL(heap_free(aligned), HEAP_DOUBLE_FREE);
}

/** One word of a header overwritten: the checker sees it, and nothing once it is restored. */
static void damage_is_seen(void) {
    heap_reset();
    uint8_t *const live = heap_allocate(100);
    uint8_t *const freed = heap_allocate(100);
    (void)heap_allocate(100);
    heap_free(freed);
    /* Of the published format. Where blocks lie, models.py predicts. */
    const size_t header = strcmp(heap_allocator_name(), "binary_buddy") == 0 ? 8 : 4;
    uint8_t *const words[] = {live - header, freed - header, freed, freed + 4};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        each_bit_is_seen(words[i]);
    }
}

void test_buddy(void) {
    CHECK_EQUAL(heap_region_bytes(), 65536);
    aligned_payloads_lead_back();
    damage_is_seen();
}
