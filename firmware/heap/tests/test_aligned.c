/* Aligned allocations: aligned, disjoint, freed like any other, and what lies before them is not
 * lost. */
#include <string.h>

#include "bench.h"
#include "harness.h"
#include "promise.h"

enum { BLOCKS = 12 };

/**
 * Blocks of every alignment at once, behind a first block that shifts them all by `shift` bytes.
 */
static void every_alignment(size_t shift) {
    uint8_t *aligned[BLOCKS];
    size_t size[BLOCKS];
    heap_reset();
    void *const shifted = heap_allocate(shift);
    for (unsigned i = 0; i < BLOCKS; i++) {
        const size_t alignment = (size_t)1 << i;
        size[i] = 5 + 37 * i;
        aligned[i] = heap_allocate_aligned(size[i], alignment);
        CHECK(aligned[i] != NULL);
        CHECK_EQUAL((uintptr_t)aligned[i] % alignment, 0);
        CHECK_EQUAL((uintptr_t)aligned[i] % ALIGNMENT, 0);
        CHECK(heap_check());
        memset(aligned[i], (int)i, size[i]);
    }
    for (unsigned i = 0; i < BLOCKS; i++) {
        CHECK(is_filled_with(aligned[i], size[i], (uint8_t)i));
        CHECK_EQUAL(heap_free(aligned[i]), HEAP_OK);
    }
    CHECK_EQUAL(heap_free(shifted), HEAP_OK);
    CHECK(heap_is_pristine());
}

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
    for (size_t shift = 8; shift <= 128; shift += 8) {
        every_alignment(shift);
    }
    what_lies_before_stays_free();
    a_large_request_with_a_large_alignment();
}
