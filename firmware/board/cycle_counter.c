#include "board/cycle_counter.h"

/* DWT's registers say nothing while TRCENA is clear (ARM C1.6.5). */
static bool counts(void) {
    return (DEMCR & DEMCR_TRCENA) != 0u && (DWT_CTRL & DWT_CTRL_CYCCNTENA) != 0u;
}

static void arm(void) {
    DEMCR |= DEMCR_TRCENA;
    DWT_CTRL |= DWT_CTRL_CYCCNTENA;
}

void cycle_counter_start(void) {
    arm();
    DWT_CYCCNT = 0; /* last: a debugger may have left it counting */
}

bool cycle_counter_keep(void) {
    const bool counted = counts();
    if (!counted) {
        arm();
    }
    return counted;
}

/* A turn takes more than one cycle, so a counter that counts needs fewer turns than cycles. */
void cycle_counter_wait(uint32_t cycles) {
    const uint32_t start = cycle_counter_read();
    for (uint32_t turn = 0; turn < cycles && cycle_counter_read() - start < cycles; turn++) {}
}
