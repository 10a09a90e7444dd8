/* Which free blocks a search finds: those that the index promises, and no others where memory use
 * is incomplete. */
#include "bench.h"

/** Takes all that is left, so that what is freed afterwards is all there is. */
static void exhaust(void) {
    for (size_t size = 4096; size >= 8; size /= 2) {
        while (heap_allocate(size) != NULL) {}
    }
    CHECK_EQUAL(heap_free_bytes(), 0);
}

/** The largest request that is served where one block of `size` bytes is free and nothing else. */
static size_t largest_served(size_t size) {
    heap_reset();
    void *const block = heap_allocate(size);
    exhaust();
    CHECK_EQUAL(heap_free(block), HEAP_OK);
    size_t request = promised_payload(size);
    while (request > 0 && heap_allocate(request) == NULL) {
        request -= 8;
    }
    CHECK(heap_check());
    CHECK_EQUAL(heap_free(block), HEAP_OK);
    CHECK_EQUAL(heap_read_statistics().largest_free_block, request);
    return request;
}

/**
 * The lower bound of a slot of TLSF, from its definition: from 8·SLOTS bytes on an octave has SLOTS
 * of them.
 */
static size_t slot_begin(size_t size) {
    size_t octave = 8 * promised_slots();
    if (size < octave) {
        return size;
    }
    while (2 * octave <= size) {
        octave *= 2;
    }
    const size_t width = octave / promised_slots();
    return size / width * width;
}

static size_t power_begin(size_t size) {
    size_t power = 8;
    while (2 * power <= size) {
        power *= 2;
    }
    return power;
}

static size_t wanted_of(size_t size) {
    switch (promised()->finds) {
    case FINDS_SLOTS:
        return slot_begin(size);
    case FINDS_POWERS:
        return power_begin(size);
    case FINDS_WHAT_FITS:
    case FINDS_UP_TO_THRESHOLD: /* one block is within every threshold */
        break;
    }
    return size;
}

void test_fit(void) {
    for (size_t size = 24; size <= 3000; size += 8 * (1 + size / 128)) {
        CHECK_EQUAL(largest_served(size), wanted_of(promised_payload(size)));
    }
    CHECK_EQUAL(largest_served(1024), promised_payload(1024));
}
