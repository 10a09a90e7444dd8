/** DWT's cycle counter, armed by the firmware itself: a debugger that disconnects may have stopped
 * it. */
#ifndef TAILSCOPE_BOARD_CYCLE_COUNTER_H
#define TAILSCOPE_BOARD_CYCLE_COUNTER_H

#include <stdint.h>

#include "board/stm32f401.h"

void cycle_counter_start(void);

/** Core cycles, modulo 2^32. */
static inline uint32_t cycle_counter_read(void) {
    return DWT_CYCCNT;
}

/** Waits at least `cycles` core cycles. */
void cycle_counter_wait(uint32_t cycles);

#endif
