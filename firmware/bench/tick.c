#include "bench/steps.h"

#include "bench/records.h"
#include "board/cycle_counter.h"
#include "board/nvic.h"

enum { TICKS = 2 };

typedef struct {
    uint32_t cycles, countdown;
} instant;

/* Both counters at one instant: SysTick counts core cycles down to the next tick. */
static instant read_both(void) {
    const uint32_t previous = interrupts_mask();
    const instant now = {.countdown = SYSTICK_VAL, .cycles = cycle_counter_read()};
    interrupts_restore(previous);
    return now;
}

/* The longest pause in a loop of reads, less what an undisturbed turn takes. */
static uint32_t handler_cycles(uint32_t period_cycles) {
    const uint32_t start = cycle_counter_read();
    uint32_t longest = 0;
    uint32_t shortest = UINT32_MAX;
    uint32_t before = start;
    uint32_t turns = 0;
    /* A turn takes more than one cycle: this ends even if the counter stands. */
    while (before - start < TICKS * period_cycles && turns++ < TICKS * period_cycles) {
        const uint32_t now = cycle_counter_read();
        const uint32_t turn = now - before;
        longest = turn > longest ? turn : longest;
        shortest = turn < shortest ? turn : shortest;
        before = now;
    }
    return longest - shortest;
}

void record_tick(void) {
    const uint32_t period_cycles = SYSTICK_LOAD + 1u;
    const uint32_t handler = handler_cycles(period_cycles);
    const instant now = read_both();
    record_begin("TICK");
    record_decimal(now.cycles);
    record_decimal(now.countdown);
    record_decimal(period_cycles);
    record_decimal(handler);
    record_end();
}
