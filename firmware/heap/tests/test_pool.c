/* The pools: their blocks, their order, and what a free of no block does. Which block a request
 * gets is models.py's. */
#include "bench.h"

static void last_in_first_out(void) {
    heap_reset();
    uint8_t *const first = heap_allocate(100);
    uint8_t *const second = heap_allocate(100);
    uint8_t *const third = heap_allocate(100);
    CHECK_EQUAL(distance(first, second), 128);
    CHECK_EQUAL(distance(second, third), 128);
    heap_free(third);
    heap_free(first);
    CHECK(heap_allocate(65) == first);
    CHECK(heap_allocate(128) == third);
}

/** A block goes back to its own pool, also if a smaller request had it. */
static void what_is_no_block_is_refused(void) {
    heap_reset();
    uint8_t *const block = heap_allocate(100);
    uint8_t *const region = (uint8_t *)heap_allocate(4096); /* the largest pool comes first */
    CHECK_EQUAL(heap_free(block + 4), HEAP_MISALIGNED);
    CHECK_EQUAL(heap_free(block + 16), HEAP_FOREIGN);
    CHECK_EQUAL(heap_free(region - 16), HEAP_FOREIGN);
    CHECK_EQUAL(heap_free(region + 65536), HEAP_FOREIGN);
    CHECK_EQUAL(heap_last_operation().live_blocks, 2);
    CHECK(heap_check());
    CHECK_EQUAL(heap_free(block), HEAP_OK);
    CHECK_EQUAL(heap_free(region), HEAP_OK);
    CHECK_EQUAL(heap_free_bytes(), 65536);
}

/** A link overwritten, or a block freed twice: the checker sees it. */
static void damage_is_seen(void) {
    heap_reset();
    uint8_t *const block = heap_allocate(100);
    uint8_t *const other = heap_allocate(300);
    heap_free(block);
    uint8_t sound[4];
    memcpy(sound, block, sizeof sound);
    void *const astray[] = {block, other, block + 8, NULL};
    for (size_t i = 0; i < sizeof astray / sizeof *astray; i++) {
        memcpy(block, &astray[i], sizeof sound);
        CHECK(!heap_check());
        memcpy(block, sound, sizeof sound);
        CHECK(heap_check());
    }
    heap_free(block);
    CHECK(!heap_check());
}

void test_pool(void) {
    CHECK_EQUAL(heap_region_bytes(), 65536);
    last_in_first_out();
    what_is_no_block_is_refused();
    damage_is_seen();
}
