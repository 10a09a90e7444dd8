#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"

/* A knob is defined only where the index under test has it; elsewhere a value is needed to
 * compile. */
#ifndef TAILSCOPE_TLSF_SLOTS
#define TAILSCOPE_TLSF_SLOTS 16u
#endif
#ifndef TAILSCOPE_HDR
#define TAILSCOPE_HDR 16u
#endif
#ifndef TAILSCOPE_LEAST
#define TAILSCOPE_LEAST 8u
#endif
#ifndef TAILSCOPE_SEARCH_THRESHOLD
#define TAILSCOPE_SEARCH_THRESHOLD 0u
#endif

/* With a header of one word the last 4 bytes of a free payload are the layer's own; half_fit_cstm
 * and half_tree then have no block below 24 bytes. */
#define SMALLEST(full, short) (TAILSCOPE_HDR == 16u ? (full) : (short)-TAILSCOPE_HDR)

#ifndef TAILSCOPE_FINDS /* of an index from outside, as its table states them */
#define TAILSCOPE_FINDS FINDS_WHAT_FITS
#define TAILSCOPE_LEAST_PAYLOAD 8u
static const bool is_from_outside = false;
#else
static const bool is_from_outside = true;
#endif

static const promise outside = {NULL, TAILSCOPE_FINDS, TAILSCOPE_LEAST_PAYLOAD, false, false};

static const promise promises[] = {
    {"seglist", FINDS_WHAT_FITS, 8, false, false},
    {"tlsf", FINDS_SLOTS, 8, false, false},
    {"first_fit", FINDS_WHAT_FITS, SMALLEST(8, 16), false, false},
    {"best_fit", FINDS_WHAT_FITS, SMALLEST(TAILSCOPE_LEAST, TAILSCOPE_LEAST + 8u), false, false},
    {"first_fit_ordered", FINDS_WHAT_FITS, 8, true, false},
    {"avl", FINDS_WHAT_FITS, 24, false, true},
    {"half_fit", FINDS_POWERS, 8, false, false},
    {"half_fit_cstm", TAILSCOPE_SEARCH_THRESHOLD == 0 ? FINDS_WHAT_FITS : FINDS_UP_TO_THRESHOLD,
     SMALLEST(8, 24), false, false},
    {"half_tree", FINDS_WHAT_FITS, SMALLEST(16, 24), false, true},
};

const promise *promised(void) {
    if (is_from_outside) {
        return &outside;
    }
    for (size_t i = 0; i < sizeof promises / sizeof *promises; i++) {
        if (strcmp(promises[i].name, heap_allocator_name()) == 0) {
            return &promises[i];
        }
    }
    fprintf(stderr, "%s is not in promise.c: say there what it promises.\n", heap_allocator_name());
    exit(1);
}

size_t promised_header(void) {
    return TAILSCOPE_HDR;
}

size_t promised_margin(void) {
    return TAILSCOPE_HDR == 4u ? 4 : 0;
}

size_t promised_whole(void) {
    return heap_region_bytes() - promised_header() - 2 * promised_margin();
}

size_t promised_slots(void) {
    return TAILSCOPE_TLSF_SLOTS;
}

unsigned promised_threshold(void) {
    return TAILSCOPE_SEARCH_THRESHOLD;
}

size_t promised_payload(size_t size) {
    const size_t rounded = (size + promised_header() + 7) / 8 * 8 - promised_header();
    return rounded < promised()->smallest_payload ? promised()->smallest_payload : rounded;
}
