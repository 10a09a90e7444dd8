/* Layout: where blocks are split, how they are merged, in which order lists give them back. */
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
 * Frees a block of `hole` bytes between live ones, takes `request` bytes out of it, and counts the
 * free blocks.
 */
static size_t free_blocks_after_reuse(size_t hole, size_t request, size_t bytes_in_use) {
    heap_reset();
    void *const victim = heap_allocate(hole);
    void *const fence = heap_allocate(8);
    CHECK_EQUAL(heap_free(victim), HEAP_OK);
    CHECK(heap_allocate(request) == victim);
    CHECK_EQUAL(heap_read_statistics().bytes_in_use, bytes_in_use + promised_payload(8));
    CHECK(heap_check());
    (void)fence;
    return free_blocks();
}

static void a_rest_is_split_off_only_if_it_can_be_a_block(void) {
    /* The largest request that leaves a header and the smallest payload: 40 bytes if that is 8. */
    const size_t hole = promised_payload(64);
    const size_t leaves_a_block = hole - promised_header() - promised()->smallest_payload;
    for (size_t request = leaves_a_block + 8; request <= hole; request += 8) {
        CHECK_EQUAL(free_blocks_after_reuse(hole, request, hole), 1);
    }
    CHECK_EQUAL(free_blocks_after_reuse(hole, leaves_a_block, leaves_a_block), 2);
    CHECK_EQUAL(free_blocks_after_reuse(hole, leaves_a_block - 7, leaves_a_block),
                2); /* rounded up */
    CHECK_EQUAL(free_blocks_after_reuse(hole, 8, promised_payload(8)), 2);
}

/**
 * Frees three neighbours of 32 bytes, before a fence, in the given order. After free i there must
 * be `expected[i]` free blocks.
 */
static void coalesces(const int order[3], const size_t expected[3]) {
    void *block[3];
    heap_reset();
    for (int i = 0; i < 3; i++) {
        block[i] = heap_allocate(32);
    }
    void *const fence = heap_allocate(8);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(heap_free(block[order[i]]), HEAP_OK);
        CHECK_EQUAL(free_blocks(), expected[i] + 1); /* and the rest of the region */
        CHECK(heap_check());
    }
    const size_t all = 3 * promised_payload(32) + 2 * promised_header();
    if (promised_header() == HEADER_BYTES) {
        CHECK_EQUAL(header_before(block[0])->size, all);
        CHECK(header_before(fence)->prev == header_before(block[0]));
    }
    CHECK(heap_allocate(all) == block[0]);
}

static void neighbours_merge(void) {
    coalesces((const int[]){0, 1, 2}, (const size_t[]){1, 1, 1}); /* backward, backward */
    coalesces((const int[]){2, 1, 0}, (const size_t[]){1, 1, 1}); /* forward, forward */
    coalesces((const int[]){0, 2, 1}, (const size_t[]){1, 2, 1}); /* both at once */
}

static void the_last_block_merges_with_the_rest_of_the_region(void) {
    heap_reset();
    void *const a = heap_allocate(40);
    void *const b = heap_allocate(40);
    CHECK_EQUAL(heap_free(b), HEAP_OK);
    CHECK_EQUAL(free_blocks(), 1);
    CHECK_EQUAL(heap_free(a), HEAP_OK);
    CHECK(heap_is_pristine());
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
    a_rest_is_split_off_only_if_it_can_be_a_block();
    neighbours_merge();
    the_last_block_merges_with_the_rest_of_the_region();
    equal_blocks_come_back_in_the_promised_order();
}
