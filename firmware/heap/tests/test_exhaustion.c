/* Taking everything, being told so, and getting it all back. */
#include "bench.h"
#include "harness.h"
#include "promise.h"

enum { BLOCKS_LIMIT = 65536 / 16 };
static void *block[BLOCKS_LIMIT];

static unsigned fill(size_t size) {
    unsigned n = 0;
    while (n < BLOCKS_LIMIT && (block[n] = heap_allocate(size)) != NULL) {
        n++;
    }
    return n;
}

static void shuffle(unsigned n, uint32_t seed) {
    for (unsigned i = n; i > 1; i--) {
        const unsigned other = next_random(&seed) % i;
        void *const swapped = block[i - 1];
        block[i - 1] = block[other];
        block[other] = swapped;
    }
}

static void everything_comes_back(size_t size, unsigned wanted, uint32_t seed) {
    heap_reset();
    const unsigned n = fill(size);
    CHECK_EQUAL(n, wanted);
    CHECK_EQUAL(heap_last_operation().status, n == BLOCKS_LIMIT ? HEAP_OK : HEAP_OUT_OF_MEMORY);
    CHECK(heap_check());
    shuffle(n, seed);
    for (unsigned i = 0; i < n; i++) {
        CHECK_EQUAL(heap_free(block[i]), HEAP_OK);
        if (i % 64 == 0) {
            CHECK(heap_check());
        }
    }
    CHECK(heap_is_pristine());
}

/** So many blocks of the size fill the region; with full headers, 16 bytes and the payload each. */
static unsigned that_fit(size_t size) {
    const size_t bytes = promised_header() + promised_payload(size);
    return (unsigned)((65536 - 2 * promised_margin()) / bytes);
}

static void one_block_freed_is_one_block_got(void) {
    heap_reset();
    const unsigned n = fill(64);
    CHECK(heap_allocate(64) == NULL);
    CHECK_EQUAL(heap_free(block[n / 2]), HEAP_OK);
    CHECK(heap_allocate(64) == block[n / 2]);
    CHECK(heap_allocate(64) == NULL);
}

static void the_largest_free_block_is_what_can_be_got(void) {
    heap_reset();
    const size_t largest = heap_read_statistics().largest_free_block;
    CHECK(largest >= promised_largest(promised_whole()));
    CHECK(heap_allocate(largest + 1) == NULL);
    CHECK_EQUAL(heap_last_operation().status, HEAP_OUT_OF_MEMORY);
    CHECK(heap_allocate(largest) != NULL);
    CHECK(heap_check());
}

void test_exhaustion(void) {
    CHECK_EQUAL(heap_region_bytes(), 65536);
    /* With 8 bytes 2730 blocks; the 16 bytes that remain are the last one's. */
    everything_comes_back(8, that_fit(8), 1);
    everything_comes_back(72, that_fit(72), 2); /* 744 */
    /* The last block is one of exactly 112 bytes, which Half Fit files with 64. */
    everything_comes_back(112, that_fit(112) - (promised()->finds == FINDS_POWERS), 3);
    everything_comes_back(1024, that_fit(1024),
                          4); /* 63: found by all, 1024 bounds a slot and a bin */
    one_block_freed_is_one_block_got();
    the_largest_free_block_is_what_can_be_got();
}
