/* Taking everything and giving it back: in any order, and with holes. */
#include "bench.h"

static size_t fill(size_t size) {
    const size_t before = shadow_live();
    while (shadow_allocate(size, ALIGNMENT, (uint8_t)(7 * shadow_live()))) {}
    return shadow_live() - before;
}

/** Asks for less and less until something is served, and gives it back. */
static size_t largest_served(void) {
    size_t size = heap_region_bytes();
    while (size > 0 && !shadow_allocate(size, ALIGNMENT, 0xA5)) {
        size -= size > 64 ? 8 : 1;
    }
    if (size > 0) {
        shadow_free(shadow_live() - 1);
    }
    return size;
}

static void what_is_left_after(size_t largest_after_reset, bool merges) {
    CHECK_EQUAL(heap_last_operation().live_blocks, 0);
    CHECK_EQUAL(heap_last_operation().bytes_in_use, 0);
    CHECK(heap_check());
    if (merges) {
        CHECK_EQUAL(largest_served(), largest_after_reset);
    }
}

static void everything_comes_back(size_t size, uint32_t seed, bool merges) {
    shadow_reset();
    const size_t largest = merges ? largest_served() : 0;
    shadow_reset();
    const size_t n = fill(size);
    CHECK(n > 0 || (merges && size > largest));
    shadow_check();
    CHECK(heap_check());
    shadow_free_all(seed);
    CHECK_EQUAL(fill(size), n);
    shadow_free_all(seed + 1);
    what_is_left_after(largest, merges);
}

/**
 * Frees every second block, with nothing else free. As many of that size must be served from the
 * holes.
 */
static void holes_are_used_again(size_t size, size_t spacer, bool merges) {
    enum { PAIRS = 16 };
    shadow_reset();
    const size_t largest = merges ? largest_served() : 0;
    shadow_reset();
    for (size_t pair = 0; pair < PAIRS; pair++) {
        CHECK(shadow_allocate(size, ALIGNMENT, 1));
        CHECK(shadow_allocate(spacer, ALIGNMENT, 2));
    }
    fill(spacer);
    for (size_t pair = PAIRS; pair > 0; pair--) {
        shadow_free(2 *
                    (pair - 1)); /* the last block takes its place, which is not looked at again */
    }
    CHECK(!allocator_promises("reuses_holes") || fill(size) >= PAIRS);
    shadow_check();
    CHECK(heap_check());
    shadow_free_all(3);
    what_is_left_after(largest, merges);
}

/** Without frees the heap serves until it is empty, and then says so. */
static void exhaustion(void) {
    shadow_reset();
    const size_t n = fill(72);
    CHECK(n > 0);
    CHECK(n <= heap_region_bytes() / 72);
    CHECK_EQUAL(heap_last_operation().status, HEAP_OUT_OF_MEMORY);
    CHECK_EQUAL(heap_last_operation().live_blocks, n);
    shadow_check();
}

void test_recovery(void) {
    exhaustion();
    if (!allocator_promises("frees")) {
        return;
    }
    const bool merges = allocator_promises("merges");
    static const size_t sizes[] = {1, 8, 13, 72, 112, 1024, 5000, 12000};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        everything_comes_back(sizes[i], i + 1, merges);
    }
    /* Powers of two: a search that rounds requests up still finds them. */
    holes_are_used_again(64, 8, merges);
    holes_are_used_again(512, 40, merges);
}
