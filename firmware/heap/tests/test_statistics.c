/* The figures, against sums worked out by hand from the layout. */
#include "bench.h"
#include "harness.h"
#include "promise.h"

static void after_a_reset(void) {
    const heap_statistics now = heap_read_statistics();
    CHECK(heap_is_pristine());
    CHECK_EQUAL(now.minimum_ever_free_bytes, promised_whole());
    CHECK_EQUAL(now.smallest_free_block, promised_whole());
    CHECK_EQUAL(now.allocations, 0);
    CHECK_EQUAL(now.frees, 0);
    CHECK_EQUAL(heap_free_bytes(), promised_whole()); /* 65,520 with full headers */
}

static void through_three_allocations(void) {
    const size_t small =
        promised_payload(10) + promised_payload(8); /* 16 + 8, or twice the smallest payload */
    void *const a = heap_allocate(10);
    const size_t large = promised_payload(100); /* 104, or 100 if the header is one word */
    const size_t left = promised_whole() - (small + large) - 3 * promised_header();
    void *const b = heap_allocate(100);
    void *const c = heap_allocate(8);
    CHECK_EQUAL(heap_free_bytes(), left);
    CHECK_EQUAL(heap_last_operation().live_blocks, 3);
    CHECK_EQUAL(heap_last_operation().bytes_in_use, small + large);

    CHECK_EQUAL(heap_free(b), HEAP_OK);
    const heap_statistics now = heap_read_statistics();
    CHECK_EQUAL(now.live_blocks, 2);
    CHECK_EQUAL(now.bytes_in_use, small);
    CHECK_EQUAL(now.free_blocks, 2);
    CHECK_EQUAL(now.smallest_free_block, large);
    CHECK_EQUAL(now.free_bytes, left + large);
    CHECK_EQUAL(now.free_bytes, heap_free_bytes());
    CHECK_EQUAL(now.minimum_ever_free_bytes, left);
    CHECK_EQUAL(now.allocations, 3);
    CHECK_EQUAL(now.frees, 1);

    CHECK(heap_allocate(70000) == NULL);
    CHECK_EQUAL(heap_free(b), HEAP_DOUBLE_FREE);
    CHECK_EQUAL(heap_read_statistics().allocations, 3);
    CHECK_EQUAL(heap_read_statistics().frees, 1);
    CHECK_EQUAL(heap_last_operation().bytes_in_use, small);

    CHECK_EQUAL(heap_free(a), HEAP_OK);
    CHECK_EQUAL(heap_free(c), HEAP_OK);
    CHECK(heap_is_pristine());
}

static void the_minimum_can_be_forgotten(void) {
    CHECK(heap_minimum_ever_free_bytes() < promised_whole());
    heap_reset_minimum_ever_free();
    CHECK_EQUAL(heap_minimum_ever_free_bytes(), promised_whole());
    (void)heap_allocate(8);
    CHECK_EQUAL(heap_minimum_ever_free_bytes(),
                promised_whole() - promised_header() - promised_payload(8));
}

void test_statistics(void) {
    CHECK_EQUAL(heap_region_bytes(), 65536);
    heap_reset();
    after_a_reset();
    through_three_allocations();
    the_minimum_can_be_forgotten();
    heap_reset();
    after_a_reset();
}
