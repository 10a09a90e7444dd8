/* Layout: where blocks lie, and in which order lists give them back. Where they are split and
 * merged is models.py's. */
#include "bench.h"
#include "harness.h"
#include "promise.h"

static size_t free_blocks(void) {
    return heap_read_statistics().free_blocks;
}

static void blocks_lie_one_behind_the_other(void) {
    heap_reset();
    void *const a = heap_allocate(8);
    void *const b = heap_allocate(13);
    void *const c = heap_allocate(64);
    CHECK_EQUAL((uintptr_t)a % ALIGNMENT, 0);
    CHECK_EQUAL(distance(a, b), promised_payload(8) + promised_header());
    CHECK_EQUAL(distance(b, c), promised_payload(13) + promised_header());
    CHECK_EQUAL(free_blocks(), 1);
    if (promised_header() == HEADER_BYTES) {
        CHECK(header_before(a)->prev == NULL);
        CHECK(header_before(b)->prev == header_before(a));
        CHECK(header_before(c)->prev == header_before(b));
    }
}

/**
 * Last in, first out, or in order of address. All have 64 bytes, so that Half Fit finds them too.
 */
static void equal_blocks_come_back_in_the_promised_order(void) {
    void *block[4];
    heap_reset();
    for (int i = 0; i < 4; i++) {
        block[i] = heap_allocate(64);
        (void)heap_allocate(8);
    }
    const int order[] = {2, 0, 3, 1};
    for (int i = 0; i < 4; i++) {
        CHECK_EQUAL(heap_free(block[order[i]]), HEAP_OK);
    }
    for (int i = 0; i < 4; i++) {
        CHECK(heap_allocate(64) == block[promised()->by_address ? i : order[3 - i]]);
    }
}

void test_blocks(void) {
    blocks_lie_one_behind_the_other();
    equal_blocks_come_back_in_the_promised_order();
}
