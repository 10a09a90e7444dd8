/* Requests that nobody can serve: each is refused with its reason, and nothing that is live
 * changes. */
#include <stdint.h>

#include "bench.h"

static void is_refused(size_t size, size_t alignment, heap_status why) {
    const heap_statistics was = heap_read_statistics();
    CHECK(heap_allocate_aligned(size, alignment) == NULL);
    CHECK_EQUAL(heap_last_operation().status, why);
    if (alignment == ALIGNMENT) {
        CHECK(heap_allocate(size) == NULL);
        CHECK_EQUAL(heap_last_operation().status, why);
    }
    const heap_statistics now = heap_read_statistics();
    CHECK_EQUAL(now.live_blocks, was.live_blocks);
    CHECK_EQUAL(now.bytes_in_use, was.bytes_in_use);
    CHECK_EQUAL(now.free_bytes, was.free_bytes);
    CHECK_EQUAL(now.largest_free_block, was.largest_free_block);
    CHECK(heap_check());
    shadow_check();
}

static void build(void) {
    shadow_reset();
    for (uint8_t i = 0; i < 6; i++) {
        CHECK(shadow_allocate(24 + 40u * i, ALIGNMENT, i));
    }
    if (allocator_promises("frees")) {
        shadow_free(1);
        shadow_free(3);
    }
}

void test_requests(void) {
    const size_t region = heap_region_bytes();
    build();
    is_refused(0, ALIGNMENT, HEAP_ZERO_SIZE);
    is_refused(region, ALIGNMENT, HEAP_OUT_OF_MEMORY);
    is_refused(region + 8, ALIGNMENT, HEAP_OUT_OF_MEMORY);
    is_refused(SIZE_MAX / 2, ALIGNMENT, HEAP_OUT_OF_MEMORY);
    for (size_t less = 0; less < 64; less++) {
        is_refused(SIZE_MAX - less, ALIGNMENT, HEAP_OUT_OF_MEMORY);
    }
    is_refused(8, 0, HEAP_BAD_ALIGNMENT);
    is_refused(8, 3, HEAP_BAD_ALIGNMENT);
    is_refused(8, 24, HEAP_BAD_ALIGNMENT);
    is_refused(8, (size_t)1 << 31, HEAP_BAD_ALIGNMENT);
    if (allocator_promises("aligns")) {
        is_refused(SIZE_MAX, 64, HEAP_OUT_OF_MEMORY);
        is_refused(SIZE_MAX - 64, 64, HEAP_OUT_OF_MEMORY);
        is_refused(region, 64, HEAP_OUT_OF_MEMORY);
    } else if (!allocator_may_do_more()) {
        is_refused(8, 64, HEAP_BAD_ALIGNMENT);
    }
}
