/**
 * What counts the core's cycles: DWT, or a timer where the core has none. The firmware arms it
 * itself, because a debugger may have stopped DWT when it disconnected.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "architecture.h"

#define CYCLE_COUNTER REGISTER(CYCLE_COUNTER_ADDRESS)

void cycle_counter_start(void);

/**
 * True if it counts. If not, it counts again from here on, and goes on from where it stood: a
 * debugger that leaves clears DEMCR.TRCENA.
 */
bool cycle_counter_keep(void);

/** Core cycles, modulo 2^32. */
static inline uint32_t cycle_counter_read(void) {
    return CYCLE_COUNTER;
}

/** Waits at least `cycles` core cycles, even if the counter stands. */
void cycle_counter_wait(uint32_t cycles);
