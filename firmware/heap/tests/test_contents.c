/* Seeded churn: what is live keeps its bytes, its place and its alignment, whatever happens around
 * it. */
#include "bench.h"

enum { LIVE_LIMIT = 160, OPERATIONS = TAILSCOPE_CHURN_OPERATIONS };

static size_t draw_size(uint32_t *random) {
    const uint32_t share = next_random(random) % 100;
    const uint32_t limit = share < 60 ? 64 : share < 90 ? 512 : share < 98 ? 4096 : 11000;
    return 1 + next_random(random) % limit;
}

/**
 * What the statistics call the largest free block is served, and no byte more. The check leaves the
 * heap as it was. The statistics are read again in between, since a search in vain may decide where
 * the next one begins.
 */
static void the_largest_is_served(void) {
    CHECK(heap_allocate(heap_read_statistics().largest_free_block + 1) == NULL);
    const size_t largest = heap_read_statistics().largest_free_block;
    if (largest > 0) {
        void *const block = heap_allocate(largest);
        CHECK(block != NULL);
        CHECK_EQUAL(heap_free(block), HEAP_OK);
    }
}

static void allocate(uint32_t *random, bool aligns, bool knows_largest) {
    const size_t size = draw_size(random);
    const bool aligned = aligns && next_random(random) % 8 == 0;
    const size_t alignment =
        aligned ? (size_t)16 << next_random(random) % 9 : ALIGNMENT; /* 16 … 4096 */
    const size_t largest = knows_largest ? heap_read_statistics().largest_free_block : 0;
    const bool served = shadow_allocate(size, alignment, (uint8_t)next_random(random));
    if (knows_largest && !aligned) {
        CHECK_EQUAL(served, size <= largest);
    }
}

static void churn(uint32_t seed, bool aligns, bool knows_largest) {
    shadow_reset();
    for (unsigned i = 0; i < OPERATIONS; i++) {
        const bool grow =
            shadow_live() == 0 || (shadow_live() < LIVE_LIMIT && next_random(&seed) % 100 < 54);
        if (grow) {
            allocate(&seed, aligns, knows_largest);
        } else {
            shadow_free(next_random(&seed) % shadow_live());
        }
        CHECK(heap_check());
        shadow_check();
        if (knows_largest && i % 16 == 0) {
            the_largest_is_served();
        }
    }
    shadow_free_all(seed);
    CHECK(heap_check());
}

/** Without frees: blocks of every size until nothing is left. */
static void fill_once(uint32_t seed, bool aligns) {
    shadow_reset();
    for (unsigned i = 0; i < OPERATIONS; i++) {
        allocate(&seed, aligns, false);
        CHECK(heap_check());
    }
    shadow_check();
}

void test_contents(void) {
    static const uint32_t seeds[] = {0x00000001, 0x5EED5EED, 0xFFFFFFFF};
    const bool frees = allocator_promises("frees");
    const bool aligns = allocator_promises("aligns");
    const bool knows_largest = allocator_promises("knows_largest");
    for (unsigned i = 0; i < 3; i++) {
        if (frees) {
            churn(seeds[i], aligns, knows_largest);
        } else {
            fill_once(seeds[i], aligns);
        }
    }
}
