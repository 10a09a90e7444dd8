/* Aligned allocations: what lies before them is not lost. */
#include "bench.h"
#include "harness.h"
#include "promise.h"

static void what_lies_before_stays_free(void) {
    heap_reset();
    uint8_t *const first = heap_allocate(8);
    uint8_t *const aligned = heap_allocate_aligned(8, 1024);
    const size_t front =
        (size_t)distance(first, aligned) - promised_payload(8) - 2 * promised_header();
    CHECK_EQUAL(heap_read_statistics().free_blocks, 2);
    CHECK_EQUAL(heap_read_statistics().smallest_free_block, front);
    if (promised_header() == HEADER_BYTES) {
        const heap_block *const before = header_before(aligned)->prev;
        CHECK(before == header_before(first + promised_payload(8) + HEADER_BYTES));
        CHECK_EQUAL(before->size, front);
        CHECK_EQUAL(before->status, BLOCK_FREE);
    }
    CHECK(heap_check());
}

/**
 * Even the worst case of the search must find room. The request is so large that nothing fits
 * beside it.
 */
static void a_large_request_with_a_large_alignment(void) {
    heap_reset();
    const size_t alignment = 4096;
    /* Another block may lie before the payload. */
    const size_t sure =
        promised_largest(promised_whole()) - alignment - promised_header() - promised_payload(8);
    const size_t size = sure < 50000 ? sure : 50000;
    void *const got = heap_allocate_aligned(size, alignment);
    CHECK(got != NULL);
    CHECK_EQUAL((uintptr_t)got % alignment, 0);
    CHECK(heap_check());
    CHECK_EQUAL(heap_free(got), HEAP_OK);
    CHECK(heap_is_pristine());
}

void test_aligned(void) {
    what_lies_before_stays_free();
    a_large_request_with_a_large_alignment();
}
