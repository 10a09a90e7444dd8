/* Frees that must be refused: each says why, and the heap is byte for byte what it was. */
#include <stdint.h>
#include <string.h>

#include "bench.h"

static uint8_t *region_start;
static uint8_t before[65536];

/** A heap of five neighbours, the second and the fourth of them free. */
static void build(void *block[5]) {
    heap_reset();
    for (int i = 0; i < 5; i++) {
        block[i] = heap_allocate(40);
    }
    region_start = (uint8_t *)block[0] - promised_header() - promised_margin();
    heap_free(block[1]);
    heap_free(block[3]);
}

static void remember(void) {
    memcpy(before, region_start, sizeof before);
}

static bool region_is_unchanged(void) {
    return memcmp(before, region_start, sizeof before) == 0;
}

static void free_is_refused(void *payload, heap_status why) {
    remember();
    const heap_statistics was = heap_read_statistics();
    CHECK_EQUAL(heap_free(payload), why);
    const heap_statistics now = heap_read_statistics();
    CHECK_EQUAL(heap_last_operation().status, why);
    CHECK_EQUAL(heap_last_operation().probes, 0);
    CHECK(region_is_unchanged());
    CHECK(memcmp(&was, &now, sizeof was) == 0);
}

static void bad_pointers(void) {
    static uint64_t elsewhere[16];
    void *block[5];
    build(block);
    uint8_t *const live = block[2];
    free_is_refused(NULL, HEAP_NULL);
    for (int offset = 1; offset < ALIGNMENT; offset++) {
        free_is_refused(live + offset, HEAP_MISALIGNED);
    }
    if (promised_header() == HEADER_BYTES) { /* otherwise the first payload lies there */
        free_is_refused(region_start + 8, HEAP_FOREIGN);
    }
    memset(live, 0xA5, 40);
    uint8_t *const end = region_start + heap_region_bytes();
    void *const foreign[] = {
        &elsewhere[8], region_start, end, end - 8, (void *)(uintptr_t)8, (void *)(UINTPTR_MAX - 7),
        live + 8,      live + 32,
    };
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        free_is_refused(foreign[i], HEAP_FOREIGN);
    }
    CHECK(heap_check());
}

static void double_frees(void) {
    void *block[5];
    build(block);
    free_is_refused(block[1], HEAP_DOUBLE_FREE);
    CHECK_EQUAL(heap_free(block[2]),
                HEAP_OK); /* merges 1, 2 and 3: 2 and 3 are no blocks any more */
    free_is_refused(block[1], HEAP_DOUBLE_FREE);
    free_is_refused(block[2], HEAP_DOUBLE_FREE);
    free_is_refused(block[3], HEAP_DOUBLE_FREE);
    CHECK(heap_check());
}

static void a_free_from_before_the_reset_is_foreign(void) {
    void *block[5];
    build(block);
    heap_reset();
    free_is_refused(block[2], HEAP_FOREIGN);
    CHECK(heap_is_pristine());
}

/** Overwrites one word at a time, sees the free of block 2 refused, and repairs it. */
static void corrupt_headers(void) {
    void *block[5];
    build(block);
    heap_block *const own = header_before(block[2]);
    heap_block *const behind = header_before(block[3]);
    heap_block *const ahead = header_before(block[1]);
    const struct {
        void *word;
        uint32_t value;
    } damage[] = {
        {&own->magic, 0},
        {&own->size, 0},
        {&own->size, 41},
        {&own->size, 48},
        {&own->size, 0xFFFFFFF8u},
        {&own->status, 1},
        {&own->prev, 0},
        {&own->prev, 8},
        {&own->prev, (uint32_t)(uintptr_t)own},
        {&behind->magic, 0xA5A5A5A5u},
        {&behind->size, 0xFFFFFFF8u},
        {&behind->status, 0},
        {&behind->prev, 0},
        {&ahead->magic, 0},
        {&ahead->size, 48},
        {&ahead->status, 0},
    };
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        uint32_t sound;
        memcpy(&sound, damage[i].word, sizeof sound);
        memcpy(damage[i].word, &damage[i].value, sizeof sound);
        free_is_refused(block[2], i == 0 ? HEAP_FOREIGN : HEAP_CORRUPT);
        memcpy(damage[i].word, &sound, sizeof sound);
        CHECK(heap_check());
    }
    CHECK_EQUAL(heap_free(block[2]), HEAP_OK);
    CHECK(heap_check());
}

void test_refusals(void) {
    CHECK_EQUAL(heap_region_bytes(), sizeof before);
    bad_pointers();
    double_frees();
    a_free_from_before_the_reset_is_foreign();
    if (promised_header() == HEADER_BYTES) {
        corrupt_headers();
    }
}
