/* How each index counts its probes, on heaps small enough to count by hand. */
#include <string.h>

#include "bench.h"
#include "harness.h"
#include "promise.h"

/**
 * What an index must count on few blocks, worked out by hand from the rules in its first comment.
 */
typedef struct {
    const char *name;
    unsigned
        smallest_class[7]; /**< on an empty heap: requests of 8, 16, 32, 64, 128, 256, 512 bytes */
    unsigned half;         /**< on an empty heap: 40,000 bytes */
    unsigned in_class[4];  /**< within_a_class() */
    unsigned in_vain;      /**< a_search_in_vain_counts() */
    size_t worst_free;
    unsigned worst, worst_each; /**< the_worst_case(): so many, and so many for each free block */
} counts;

static const counts table[] = {
    {"seglist", {7, 6, 5, 4, 3, 2, 1}, 1, {1, 2, 1, 3}, 1, 24, 5, 1},
    {"tlsf", {2, 2, 2, 2, 2, 2, 2}, 1, {1, 1, 1, 1}, 2, 24, 2, 0},
    {"first_fit", {1, 1, 1, 1, 1, 1, 1}, 1, {1, 2, 1, 3}, 1, 8, 0, 1},
    {"best_fit", {1, 1, 1, 1, 1, 1, 1}, 1, {1, 2, 1, 3}, 1, 8, 0, 1},
    {"first_fit_ordered", {1, 1, 1, 1, 1, 1, 1}, 1, {1, 2, 2, 3}, 1, 8, 0, 1},
    {"avl", {1, 1, 1, 1, 1, 1, 1}, 1, {3, 2, 3, 1}, 1, 24, 1, 0},
    {"half_fit", {1, 1, 1, 1, 1, 1, 1}, 1, {1, 1, 1, 1}, 1, 8, 1, 0},
    {"half_fit_cstm", {1, 1, 1, 1, 1, 1, 1}, 1, {1, 2, 1, 3}, 2, 16, 1, 1},
    {"half_tree", {1, 1, 1, 1, 1, 1, 1}, 1, {1, 2, 1, 1}, 2, 16, 2, 0},
};

static const counts *counted(void) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, heap_allocator_name()) == 0) {
            return &table[i];
        }
    }
    CHECK(!"the table says what this index counts");
    return &table[0];
}

static unsigned probes_of(size_t size) {
    void *const payload = heap_allocate(size);
    const unsigned probes = heap_last_operation().probes;
    heap_free(payload);
    CHECK_EQUAL(heap_last_operation().probes, 0);
    return probes;
}

/** One free block, in the highest class. seglist looks into every class above the request's own. */
static void on_an_empty_heap(void) {
    heap_reset();
    static const size_t sizes[7] = {8, 16, 32, 64, 128, 256, 512};
    for (size_t i = 0; i < 7; i++) {
        CHECK_EQUAL(probes_of(sizes[i]), counted()->smallest_class[i]);
    }
    CHECK_EQUAL(probes_of(17), counted()->smallest_class[2]);
    CHECK_EQUAL(probes_of(513), counted()->smallest_class[6]);
    CHECK_EQUAL(probes_of(40000), counted()->half); /* TLSF: in the octave of the block itself */
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
    /* A block that is got and freed is the newest again. Before the third seglist has 80, 72,
     * 88. */
    const size_t sizes[4] = {72, 80, promised_payload(72) + 1, 88};
    for (size_t i = 0; i < 4; i++) {
        CHECK_EQUAL(probes_of(sizes[i]), counted()->in_class[i]);
    }
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
    void *const half = heap_allocate(30000);
    CHECK(half != NULL);
    CHECK(heap_allocate(40000) == NULL);
    CHECK_EQUAL(heap_last_operation().probes, counted()->in_vain);
}

/** Half Fit's threshold cuts the walk short. */
static unsigned walked(unsigned blocks) {
    const unsigned threshold = promised_threshold();
    const bool cut = promised()->finds == FINDS_UP_TO_THRESHOLD && blocks > threshold;
    return cut ? threshold : blocks;
}

/**
 * The longest search of the lists (README.md). Free blocks and live ones of the smallest payload
 * tile the region. All free ones are of the class of a larger request, and none is above.
 */
static void the_worst_case(void) {
    static void *victim[65536 / (16 + 16)];
    const size_t pair =
        2 * promised_header() + promised_payload(counted()->worst_free) + promised_payload(8);
    const unsigned pairs = (unsigned)((65536 - 2 * promised_margin()) / pair);
    heap_reset();
    for (unsigned i = 0; i < pairs; i++) {
        victim[i] = heap_allocate(counted()->worst_free);
        CHECK(heap_allocate(8) != NULL);
    }
    while (heap_allocate(8) != NULL) {}
    CHECK_EQUAL(heap_free_bytes(), 0);
    for (unsigned i = 0; i < pairs; i++) {
        CHECK_EQUAL(heap_free(victim[i]), HEAP_OK);
    }
    CHECK(heap_allocate(promised_payload(counted()->worst_free) + 1) == NULL);
    CHECK_EQUAL(heap_last_operation().status, HEAP_OUT_OF_MEMORY);
    CHECK_EQUAL(heap_last_operation().probes,
                counted()->worst + counted()->worst_each * walked(pairs));
}

/**
 * Free blocks of as many sizes as the region holds, filed in ascending order. Trees must not become
 * lists.
 */
static void trees_stay_low(void) {
    static void *victim[128];
    const unsigned bound =
        strcmp(heap_allocator_name(), "avl") == 0 ? 9 : 15; /* 13 places, victim, bitmap */
    unsigned n = 0;
    heap_reset();
    for (size_t size = 24; (victim[n] = heap_allocate(size)) != NULL && heap_allocate(8) != NULL;
         size += 8) {
        n++;
    }
    CHECK(n > 90);
    for (unsigned i = 0; i < n; i++) {
        CHECK_EQUAL(heap_free(victim[i]), HEAP_OK);
        CHECK(heap_check());
    }
    for (size_t size = 24; size < 24 + 8 * n; size += 8) {
        CHECK(probes_of(size) <= bound);
    }
}

void test_probes(void) {
    CHECK_EQUAL(heap_region_bytes(), 65536);
    on_an_empty_heap();
    within_a_class();
    refusals_before_the_search_count_nothing();
    a_search_in_vain_counts();
    the_worst_case();
    if (promised()->tree) {
        trees_stay_low();
    }
}
