/* Reallocation: the content comes along, a failure changes nothing, and an allocator without it
 * says so. */
#include "bench.h"

static void without_one_it_is_said(void) {
    heap_reset();
    void *const block = heap_allocate(24);
    CHECK(heap_reallocate(block, 48) == NULL);
    CHECK_EQUAL(heap_last_operation().status, HEAP_UNSUPPORTED);
    CHECK_EQUAL(heap_last_operation().live_blocks, 1);
}

static void null_is_an_allocation(void) {
    heap_reset();
    CHECK(heap_reallocate(NULL, 24) != NULL);
    CHECK_EQUAL(heap_last_operation().live_blocks, 1);
}

/** Grows where it lies, moves past a neighbour, shrinks, and gives back what it does not need. */
static void grows_and_shrinks(void) {
    shadow_reset();
    CHECK(shadow_allocate(40, ALIGNMENT, 0x11));
    CHECK(shadow_reallocate(0, 400));
    CHECK(shadow_allocate(40, ALIGNMENT, 0x22));
    CHECK(shadow_reallocate(0, 4000));
    const size_t in_use = heap_last_operation().bytes_in_use;
    CHECK(shadow_reallocate(0, 16));
    CHECK(!allocator_promises("shrinks") || heap_last_operation().bytes_in_use < in_use);
    CHECK_EQUAL(heap_last_operation().live_blocks, 2);
    shadow_check();
    CHECK(heap_check());
}

static void refusals_change_nothing(void) {
    shadow_reset();
    CHECK(shadow_allocate(100, ALIGNMENT, 0x33));
    CHECK(shadow_allocate(100, ALIGNMENT, 0x44));
    CHECK(!shadow_reallocate(0, heap_region_bytes()));
    CHECK(!shadow_reallocate(0, SIZE_MAX));
    CHECK(!shadow_reallocate(0, SIZE_MAX - 7));
    CHECK_EQUAL(heap_read_statistics().live_blocks, 2);
    CHECK_EQUAL(heap_read_statistics().bytes_in_use, shadow_usable_bytes());
    shadow_check();
    CHECK(heap_check());
}

static void churn(uint32_t seed) {
    enum { LIVE_LIMIT = 100, OPERATIONS = TAILSCOPE_CHURN_OPERATIONS };
    shadow_reset();
    for (unsigned i = 0; i < OPERATIONS; i++) {
        const uint32_t share = next_random(&seed) % 3;
        const size_t size = 1 + next_random(&seed) % (share == 0 ? 2000 : 200);
        if (shadow_live() == 0 || (share == 0 && shadow_live() < LIVE_LIMIT)) {
            (void)shadow_allocate(size, ALIGNMENT, (uint8_t)i);
        } else if (share == 1) {
            (void)shadow_reallocate(next_random(&seed) % shadow_live(), size);
        } else {
            shadow_free(next_random(&seed) % shadow_live());
        }
        CHECK_EQUAL(heap_last_operation().bytes_in_use, shadow_usable_bytes());
        CHECK(heap_check());
        shadow_check();
    }
    shadow_free_all(seed);
    CHECK_EQUAL(heap_last_operation().bytes_in_use, 0);
}

void test_reallocation(void) {
    null_is_an_allocation();
    if (!allocator_promises("reallocates")) {
        if (!allocator_may_do_more()) {
            without_one_it_is_said();
        }
        return;
    }
    grows_and_shrinks();
    refusals_change_nothing();
    churn(1);
    churn(0xC0FFEE);
}
