/* How each index counts its probes, on heaps small enough to count by hand. */
#include <string.h>

#include "bench.h"
#include "harness.h"

/** The count this index must give. */
static unsigned of(unsigned seglist, unsigned tlsf) {
    return strcmp(heap_allocator_name(), "tlsf") == 0 ? tlsf : seglist;
}

static unsigned probes_of(size_t size) {
    void *const payload = heap_allocate(size);
    const unsigned probes = heap_last_operation().probes;
    heap_free(payload);
    CHECK_EQUAL(heap_last_operation().probes, 0);
    return probes;
}

/** One free block, in the highest class: seglist looks into every class above the request's own. */
static void on_an_empty_heap(void) {
    heap_reset();
    CHECK_EQUAL(probes_of(8), of(7, 2));
    CHECK_EQUAL(probes_of(16), of(6, 2));
    CHECK_EQUAL(probes_of(17), of(5, 2));
    CHECK_EQUAL(probes_of(32), of(5, 2));
    CHECK_EQUAL(probes_of(64), of(4, 2));
    CHECK_EQUAL(probes_of(128), of(3, 2));
    CHECK_EQUAL(probes_of(256), of(2, 2));
    CHECK_EQUAL(probes_of(512), of(1, 2));
    CHECK_EQUAL(probes_of(513), of(1, 2));
    CHECK_EQUAL(probes_of(40000), of(1, 1)); /* TLSF: in the octave of the block itself */
}

/** Free blocks of 72, 80 and 88 bytes in one class, the last freed at its head. */
static void within_a_class(void) {
    void *block[3];
    heap_reset();
    for (size_t i = 0; i < 3; i++) {
        block[i] = heap_allocate(72 + 8 * i);
        (void)heap_allocate(8);
    }
    for (size_t i = 3; i > 0; i--) {
        heap_free(block[i - 1]); /* 88 first: the walk meets 72, 80, 88 */
    }
    CHECK_EQUAL(probes_of(72), of(1, 1));
    CHECK_EQUAL(probes_of(80), of(2, 1));
    CHECK_EQUAL(probes_of(73), of(1, 1)); /* 80 was freed last and is the head now: 80, 72, 88 */
    CHECK_EQUAL(probes_of(88), of(3, 1));
}

static void refusals_before_the_search_count_nothing(void) {
    heap_reset();
    CHECK(heap_allocate(8) != NULL);
    CHECK(heap_last_operation().probes > 0);
    CHECK(heap_allocate(0) == NULL);
    CHECK_EQUAL(heap_last_operation().probes, 0);
    CHECK(heap_allocate(8) != NULL);
    CHECK(heap_allocate(heap_region_bytes() + 1) == NULL);
    CHECK_EQUAL(heap_last_operation().probes, 0);
    CHECK(heap_allocate_aligned(8, 64) != NULL);
    CHECK(heap_allocate_aligned(8, 65) == NULL);
    CHECK_EQUAL(heap_last_operation().probes, 0);
}

static void a_search_in_vain_counts(void) {
    heap_reset();
    void *const half = heap_allocate(40000);
    CHECK(half != NULL);
    CHECK(heap_allocate(30000) == NULL);
    CHECK_EQUAL(heap_last_operation().probes, of(1, 2));
}

/**
 * The longest search there is (README.md): the region tiled by free blocks of 24 and live ones of 8 bytes, all the
 * free ones in the class of the request for 32, and nothing above it.
 */
static void the_worst_case(void) {
    enum { PAIRS = 65536 / (HEADER_BYTES + 24 + HEADER_BYTES + 8) };
    static void *victim[PAIRS];
    heap_reset();
    for (int i = 0; i < PAIRS; i++) {
        victim[i] = heap_allocate(24);
        CHECK(heap_allocate(8) != NULL);
    }
    CHECK_EQUAL(heap_free_bytes(), 0);
    for (int i = 0; i < PAIRS; i++) {
        CHECK_EQUAL(heap_free(victim[i]), HEAP_OK);
    }
    CHECK(heap_allocate(32) == NULL);
    CHECK_EQUAL(heap_last_operation().status, HEAP_OUT_OF_MEMORY);
    CHECK_EQUAL(heap_last_operation().probes, of(1024 + 5, 2));
}

void test_probes(void) {
    CHECK_EQUAL(heap_region_bytes(), 65536);
    on_an_empty_heap();
    within_a_class();
    refusals_before_the_search_count_nothing();
    a_search_in_vain_counts();
    the_worst_case();
}
