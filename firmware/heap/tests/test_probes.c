/* How each index counts its probes, on heaps small enough to count by hand. */
#include <string.h>

#include "bench.h"

/**
 * What an index must count on few blocks, worked out by hand from the rules in its first comment.
 */
typedef struct {
    const char *name;
    unsigned in_vain; /**< a_search_in_vain_counts() */
    size_t worst_free;
    unsigned worst, worst_each; /**< the_worst_case(): so many, and so many for each free block */
} counts;

static const counts table[] = {
    {"seglist", 1, 24, 5, 1},          {"tlsf", 2, 24, 2, 0},
    {"first_fit", 1, 8, 0, 1},         {"best_fit", 1, 8, 0, 1},
    {"first_fit_ordered", 1, 8, 0, 1}, {"avl", 1, 24, 1, 0},
    {"half_fit", 1, 8, 1, 0},          {"half_fit_cstm", 2, 16, 1, 1},
    {"half_tree", 2, 16, 2, 0},
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
    a_search_in_vain_counts();
    the_worst_case();
    if (promised()->tree) {
        trees_stay_low();
    }
}
