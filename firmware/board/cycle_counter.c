#include "board/cycle_counter.h"

void cycle_counter_start(void) {
    cycle_counter_arm();
    CYCLE_COUNTER = 0; /* last: a debugger may have left it counting */
}

bool cycle_counter_keep(void) {
    const bool counted = cycle_counter_counts();
    if (!counted) {
        cycle_counter_arm();
    }
    return counted;
}

/* A turn takes more than one cycle, so a counter that counts needs fewer turns than cycles. */
void cycle_counter_wait(uint32_t cycles) {
    const uint32_t start = cycle_counter_read();
    for (uint32_t turn = 0; turn < cycles && cycle_counter_read() - start < cycles; turn++) {}
}
