/*
 * Coverage as AFL keeps it (M. Zalewski, technical details of afl-fuzz): a map of edges, each a
 * pair of places that follow one another, with counts in powers of two. This file is not
 * instrumented itself.
 */
#include <string.h>

#include "fuzz.h"

enum { EDGES = 1 << 14 };

static uint8_t taken[EDGES]; /* by the present input, saturating */
static uint8_t seen[EDGES];  /* bit b: some input took the edge 2^b times or more, below 2^(b+1) */
static uintptr_t previous;

void __sanitizer_cov_trace_pc(void) {
    /* By the distance from here, so that it does not matter where the program is loaded. */
    const uintptr_t distance =
        (uintptr_t)__builtin_return_address(0) - (uintptr_t)&__sanitizer_cov_trace_pc;
    const uintptr_t place = distance * 0x9E3779B1u >> 7;
    const uintptr_t edge = (place ^ previous) % EDGES;
    previous = place >> 1;
    taken[edge] = (uint8_t)(taken[edge] + (taken[edge] < UINT8_MAX));
}

void coverage_begin_input(void) {
    memset(taken, 0, sizeof taken);
    previous = 0;
}

unsigned coverage_end_input(void) {
    unsigned fresh = 0;
    for (size_t edge = 0; edge < EDGES; edge++) {
        if (taken[edge] != 0) {
            const uint8_t bit = (uint8_t)(1u << (31 - __builtin_clz(taken[edge])));
            fresh += (seen[edge] & bit) == 0;
            seen[edge] |= bit;
        }
    }
    return fresh;
}

unsigned coverage_edges(void) {
    unsigned edges = 0;
    for (size_t edge = 0; edge < EDGES; edge++) {
        edges += seen[edge] != 0;
    }
    return edges;
}
