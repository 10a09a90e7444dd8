/**
 * Operations that are no heap operations, between the same markers
 * (docs/reference/operation-image.md, kind 4).
 */
#ifndef TAILSCOPE_BENCH_CALLS_H
#define TAILSCOPE_BENCH_CALLS_H

#include <stdint.h>

#include "bench/image.h"

/** What a call cost, in core cycles. */
typedef struct {
    uint32_t operation_cycles;
    uint32_t critical_cycles; /**< the sum of its critical sections */
} call_cost;

/** Makes the call between the markers of an operation. */
call_cost call(call_number number);

#endif
