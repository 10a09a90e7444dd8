#include "board/cycle_counter.h"

void cycle_counter_start(void) {
    DEMCR |= DEMCR_TRCENA;
    DWT_CTRL |= DWT_CTRL_CYCCNTENA;
    DWT_CYCCNT = 0; /* last: a debugger may have left it counting */
}

void cycle_counter_wait(uint32_t cycles) {
    const uint32_t start = cycle_counter_read();
    while (cycle_counter_read() - start < cycles) {}
}
