/* Seeded churn: blocks and headers tile the region, by the figures that the heap states. */
#include "bench.h"
#include "harness.h"
#include "promise.h"
#include "shadow.h"

enum { LIVE_LIMIT = 160, OPERATIONS = 2000 };

static void figures_tile_the_region(void) {
    const heap_statistics now = heap_read_statistics();
    CHECK_EQUAL(now.live_blocks, shadow_live());
    CHECK_EQUAL(now.bytes_in_use, shadow_usable_bytes());
    CHECK_EQUAL(now.bytes_in_use + now.free_bytes +
                    promised_header() * (now.live_blocks + now.free_blocks),
                promised_whole() + promised_header());
    CHECK(heap_check());
}

static void churn(uint32_t seed) {
    shadow_reset();
    for (unsigned i = 0; i < OPERATIONS; i++) {
        if (shadow_live() == 0 || (shadow_live() < LIVE_LIMIT && next_random(&seed) % 100 < 54)) {
            const uint32_t limit = next_random(&seed) % 8 == 0 ? 4096 : 256;
            const uint32_t align_log2 = next_random(&seed) % 8 == 0 ? next_random(&seed) % 6 : 0;
            (void)shadow_allocate(1 + next_random(&seed) % limit, (size_t)ALIGNMENT << align_log2,
                                  (uint8_t)i);
        } else {
            shadow_free(next_random(&seed) % shadow_live());
        }
        figures_tile_the_region();
    }
    shadow_free_all(seed);
    CHECK(heap_is_pristine());
}

void test_churn(void) {
    churn(0x00000001);
    churn(0x5EED5EED);
}
