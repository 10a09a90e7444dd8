/*
 * Seeded churn against a shadow that knows, for each live block, where it is and which bytes it
 * holds. What is free follows from the gaps between live blocks, without asking the heap.
 */
#include <stdlib.h>
#include <string.h>

#include "allocator.h"
#include "bench.h"
#include "harness.h"
#include "promise.h"

enum { SLOTS = 160, OPERATIONS = 6000 };

typedef struct {
    uint8_t *payload;
    size_t size;
    size_t usable;
    uint8_t fill;
} shadow_block;

static shadow_block live[SLOTS];
static unsigned live_count;
static const uint8_t *region_start;

static int by_address(const void *a, const void *b) {
    const uint8_t *const left = ((const shadow_block *)a)->payload;
    const uint8_t *const right = ((const shadow_block *)b)->payload;
    return (left > right) - (left < right);
}

typedef struct {
    size_t largest;
    size_t count;
    size_t bytes;
} gaps;

static void add_gap(gaps *sum, const uint8_t *begin, const uint8_t *end) {
    if (begin == end) {
        return;
    }
    const size_t payload = (size_t)distance(begin, end) - promised_header();
    sum->largest = payload > sum->largest ? payload : sum->largest;
    sum->count++;
    sum->bytes += payload;
}

/** What lies between the live blocks; and no two of them may overlap. */
static gaps read_gaps(void) {
    gaps sum = {0};
    bool disjoint = true;
    const uint8_t *behind = region_start;
    qsort(live, live_count, sizeof *live, by_address);
    for (unsigned i = 0; i < live_count; i++) {
        const uint8_t *const header = live[i].payload - promised_header();
        disjoint = disjoint && header >= behind;
        add_gap(&sum, behind, header);
        behind = live[i].payload + live[i].usable;
    }
    const uint8_t *const end = region_start + promised_header() + promised_whole();
    CHECK(disjoint && behind <= end);
    add_gap(&sum, behind, end);
    return sum;
}

static size_t draw_size(uint32_t *random) {
    const uint32_t share = next_random(random) % 100;
    const uint32_t limit = share < 60 ? 64 : share < 90 ? 512 : share < 98 ? 4096 : 20000;
    return 1 + next_random(random) % limit;
}

/** What the index promises to find must be found, what does not fit must not. */
static void verdict_is_right(const void *payload, size_t size, size_t largest_gap) {
    const size_t rounded = promised_payload(size);
    if (rounded <= promised_largest(largest_gap)) {
        CHECK(payload != NULL);
    }
    if (rounded > largest_gap) {
        CHECK(payload == NULL);
    }
}

static void allocate(uint32_t *random) {
    const size_t size = draw_size(random);
    const size_t alignment =
        next_random(random) % 8 == 0 ? (size_t)16 << next_random(random) % 6 : ALIGNMENT;
    const gaps free_before = read_gaps();
    uint8_t *const payload = heap_allocate_aligned(size, alignment);
    if (alignment == ALIGNMENT) {
        verdict_is_right(payload, size, free_before.largest);
    }
    if (payload == NULL) {
        CHECK_EQUAL(heap_last_operation().status, HEAP_OUT_OF_MEMORY);
        return;
    }
    CHECK_EQUAL((uintptr_t)payload % alignment, 0);
    const size_t usable = allocator_usable_size(payload);
    CHECK(usable >= size);
    live[live_count] = (shadow_block){payload, size, usable, (uint8_t)next_random(random)};
    memset(payload, live[live_count].fill, size);
    live_count++;
}

static void release(unsigned chosen) {
    CHECK(is_filled_with(live[chosen].payload, live[chosen].size, live[chosen].fill));
    CHECK_EQUAL(heap_free(live[chosen].payload), HEAP_OK);
    live[chosen] = live[--live_count];
}

static void figures_agree(void) {
    const gaps found = read_gaps();
    const heap_statistics now = heap_read_statistics();
    CHECK_EQUAL(now.free_blocks, found.count);
    CHECK_EQUAL(now.free_bytes, found.bytes);
    CHECK(now.largest_free_block <= found.largest);
    CHECK_EQUAL(now.live_blocks, live_count);
    CHECK_EQUAL(now.bytes_in_use + now.free_bytes +
                    promised_header() * (now.live_blocks + now.free_blocks),
                promised_whole() + promised_header());
    CHECK(heap_check());
}

static void churn(uint32_t seed) {
    heap_reset();
    void *const first = heap_allocate(8);
    region_start = (const uint8_t *)first - promised_header();
    heap_free(first);
    live_count = 0;
    for (int i = 0; i < OPERATIONS; i++) {
        const bool grow = live_count == 0 || (live_count < SLOTS && next_random(&seed) % 100 < 54);
        if (grow) {
            allocate(&seed);
        } else {
            release(next_random(&seed) % live_count);
        }
        figures_agree();
    }
    while (live_count > 0) {
        release(next_random(&seed) % live_count);
    }
    CHECK(heap_is_pristine());
}

void test_churn(void) {
    churn(0x00000001);
    churn(0x5EED5EED);
    churn(0xFFFFFFFF);
}
