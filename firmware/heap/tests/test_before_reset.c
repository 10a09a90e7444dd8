/* A heap that nobody has reset refuses everything and touches nothing. */
#include "bench.h"
#include "harness.h"

void test_before_reset(void) {
    static uint64_t elsewhere[8];
    CHECK(heap_allocate(8) == NULL);
    CHECK_EQUAL(heap_last_operation().status, HEAP_OUT_OF_MEMORY);
    CHECK(heap_allocate_aligned(8, 8) == NULL);
    CHECK_EQUAL(heap_free(NULL), HEAP_NULL);
    CHECK_EQUAL(heap_free(&elsewhere[4]), HEAP_FOREIGN);
    CHECK_EQUAL(heap_read_statistics().free_bytes, 0);
    CHECK_EQUAL(heap_read_statistics().largest_free_block, 0);
    heap_reset();
    CHECK(heap_is_pristine());
}
