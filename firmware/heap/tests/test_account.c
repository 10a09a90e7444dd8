/* The figures against the shadow's sums, and the overhead that the allocator declares against what
 * a full heap holds. */
#include "allocator.h"
#include "bench.h"

static void agrees(size_t allocations, size_t frees) {
    const heap_statistics now = heap_read_statistics();
    CHECK_EQUAL(now.allocations, allocations);
    CHECK_EQUAL(now.frees, frees);
    CHECK_EQUAL(now.live_blocks, shadow_live());
    CHECK_EQUAL(now.live_blocks, heap_last_operation().live_blocks);
    CHECK(!allocator_promises("tells_usable") || now.bytes_in_use == shadow_usable_bytes());
    CHECK_EQUAL(now.bytes_in_use, heap_last_operation().bytes_in_use);
    if (allocator_promises("counts_free")) {
        CHECK_EQUAL(now.free_bytes, heap_free_bytes());
        CHECK(now.bytes_in_use + now.live_blocks * allocator_overhead.block + now.free_bytes <=
              heap_region_bytes());
        CHECK(now.minimum_ever_free_bytes <= now.free_bytes);
        CHECK(now.largest_free_block <= now.free_bytes);
        CHECK_EQUAL(now.free_blocks == 0, now.free_bytes == 0);
        CHECK(now.smallest_free_block <= now.free_bytes);
    }
}

static void figures_follow_every_operation(void) {
    shadow_reset();
    agrees(0, 0);
    const size_t free_at_first = heap_free_bytes();
    for (size_t i = 0; i < 40; i++) {
        CHECK(shadow_allocate(1 + 12 * i, ALIGNMENT, (uint8_t)i));
        agrees(i + 1, 0);
    }
    if (!allocator_promises("frees")) {
        return;
    }
    for (size_t i = 0; i < 40; i++) {
        shadow_free(shadow_live() / 2);
        agrees(40, i + 1);
    }
    if (allocator_promises("counts_free") && allocator_promises("merges")) {
        CHECK_EQUAL(heap_free_bytes(), free_at_first);
        CHECK(heap_minimum_ever_free_bytes() < free_at_first);
    }
}

/** As many blocks of one byte as the declared overhead leaves room for, and not one more. */
static void the_overhead_is_as_declared(void) {
    shadow_reset();
    size_t n = 0;
    while (shadow_allocate(1, ALIGNMENT, (uint8_t)n)) {
        n++;
    }
    const size_t room = heap_region_bytes() - allocator_overhead.heap;
    CHECK(!allocator_promises("exact_overhead") || n == room / allocator_overhead.smallest_block);
    CHECK(n <= room / allocator_overhead.smallest_block);
    CHECK(shadow_usable_bytes() + n * allocator_overhead.block <= room);
}

void test_account(void) {
    figures_follow_every_operation();
    the_overhead_is_as_declared();
}
