/* Buddy systems: how large a block a request gets, which neighbours merge, in which order blocks
 * come back. */
#include <string.h>

#include "bench.h"
#include "harness.h"

enum { REQUESTS = 7 };

/** Worked out by hand from the published format: the unit, the header, and powers of two. */
typedef struct {
    const char *name;
    unsigned levels;
    size_t largest; /**< request */
    size_t request[REQUESTS];
    size_t block[REQUESTS]; /**< its block, header included */
} scheme;

static const scheme schemes[] = {
    {"binary_buddy", 13, 65528, {1, 8, 9, 24, 25, 120, 121}, {16, 16, 32, 32, 64, 128, 256}},
    {"ublox_buddy", 9, 12284, {1, 44, 45, 92, 93, 188, 6140}, {48, 48, 96, 96, 192, 192, 6144}},
};

static const scheme *scheme_under_test(void) {
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (strcmp(schemes[i].name, heap_allocator_name()) == 0) {
            return &schemes[i];
        }
    }
    CHECK(!"the table has the buddy system under test");
    return &schemes[0];
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

/** The first half is handed out, the second is next. So two requests lie one block apart. */
static void requests_get_the_next_size(void) {
    const scheme *const expected = scheme_under_test();
    for (size_t i = 0; i < REQUESTS; i++) {
        begin();
        void *const first = heap_allocate(expected->request[i]);
        void *const second = heap_allocate(expected->request[i]);
        CHECK_EQUAL(distance(first, second), expected->block[i]);
    }
    begin();
    CHECK(heap_allocate(expected->largest + 1) == NULL);
    CHECK(heap_allocate(expected->largest) != NULL);
}

static void only_buddies_merge(void) {
    void *block[4];
    begin();
    const size_t at_first = free_blocks();
    for (int i = 0; i < 4; i++) {
        block[i] = heap_allocate(100);
    }
    const size_t then = free_blocks();
    CHECK(distance(block[0], block[3]) == 3 * distance(block[0], block[1]));
    CHECK_EQUAL(heap_free(block[1]), HEAP_OK);
    CHECK_EQUAL(heap_free(block[2]), HEAP_OK);
    CHECK_EQUAL(free_blocks(), then + 2); /* neighbours, and no buddies */
    CHECK(heap_check());
    CHECK_EQUAL(heap_free(block[0]), HEAP_OK);
    CHECK_EQUAL(free_blocks(), then + 2); /* with its buddy */
    CHECK_EQUAL(heap_free(block[3]), HEAP_OK);
    CHECK_EQUAL(free_blocks(), at_first); /* and so on up to the whole */
    CHECK(heap_check());
    CHECK_EQUAL(heap_free(block[1]), HEAP_DOUBLE_FREE);
    CHECK_EQUAL(heap_free(block[3]), HEAP_DOUBLE_FREE);
}

static void last_in_first_out(void) {
    void *block[6];
    begin();
    for (int i = 0; i < 6; i++) {
        block[i] = heap_allocate(20);
    }
    heap_free(block[4]);
    heap_free(block[0]);
    heap_free(block[2]);
    CHECK(heap_allocate(20) == block[2]);
    CHECK(heap_allocate(20) == block[0]);
    CHECK(heap_allocate(20) == block[4]);
}

/**
 * Probes count lists: all of them if only the largest block is left, one if the request's own list
 * has a block.
 */
static void each_list_counts(void) {
    begin();
    void *const first = heap_allocate(1);
    CHECK_EQUAL(heap_last_operation().probes, scheme_under_test()->levels);
    (void)heap_allocate(1);
    CHECK_EQUAL(heap_last_operation().probes, 1);
    (void)heap_allocate(1);
    CHECK_EQUAL(heap_last_operation().probes, 2);
    heap_free(first);
    CHECK_EQUAL(heap_last_operation().probes, 0);
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
    const size_t header = (size_t)(scheme_under_test()->block[0] - scheme_under_test()->request[1]);
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
    requests_get_the_next_size();
    only_buddies_merge();
    last_in_first_out();
    each_list_counts();
    aligned_payloads_lead_back();
    damage_is_seen();
}
