#include "bench/steps.h"

#include "bench/records.h"
#include "board/cycle_counter.h"
#include "board/nvic.h"
#include "board_table.h"

/* What the counter is held against: a timer that gives no stimulus yet, or none any more. */
#ifdef CONTROL_TIMER
#define PROOF_TIMER CONTROL_TIMER
#define PROOF_TIMER_BITS CONTROL_TIMER_BITS
#define PROOF_TIMER_LAST CONTROL_TIMER_LAST
#else
#define PROOF_TIMER STIMULUS_TIMER
#define PROOF_TIMER_BITS STIMULUS_TIMER_BITS
#define PROOF_TIMER_LAST STIMULUS_TIMER_LAST
#endif

/* So long that a few cycles of bus arbitration between the two reads do not matter: 1 ms, or half
 * of what a counter of 16 bits counts. */
#if PROOF_TIMER_BITS < 32
enum { INTERVAL_TICKS = 1u << (PROOF_TIMER_BITS - 1) };
#else
enum { INTERVAL_TICKS = BOARD_CORE_HZ / 1000u };
#endif
enum { TOLERANCE_CYCLES = 16 };

typedef struct {
    uint32_t cycles, ticks;
} instant;

/* Both counters at one instant: the reads are the same few cycles apart each time. */
static instant read_both(void) {
    const uint32_t previous = interrupts_mask();
    const instant now = {.ticks = TIM_CNT(PROOF_TIMER), .cycles = cycle_counter_read()};
    interrupts_restore(previous);
    return now;
}

static void start_ticks(void) {
    TIM_CR1(PROOF_TIMER) = 0;
    TIM_DIER(PROOF_TIMER) = 0; /* the interrupt's, after a run */
    TIM_PSC(PROOF_TIMER) = 0;
    TIM_ARR(PROOF_TIMER) = PROOF_TIMER_LAST;
    TIM_EGR(PROOF_TIMER) = TIM_EGR_UG;
    TIM_CR1(PROOF_TIMER) = TIM_CR1_CEN;
}

static uint32_t ticks_between(uint32_t from, uint32_t until) {
    return (until - from) & PROOF_TIMER_LAST;
}

/* The loop is bounded. A poll takes more than one tick, so a running timer needs fewer polls. */
static void wait_interval(uint32_t from_ticks) {
    for (uint32_t poll = 0; poll < INTERVAL_TICKS; poll++) {
        if (ticks_between(from_ticks, TIM_CNT(PROOF_TIMER)) >= INTERVAL_TICKS) {
            return;
        }
    }
}

static bool agree(uint32_t cycles, uint32_t ticks) {
    const uint32_t difference = cycles > ticks ? cycles - ticks : ticks - cycles;
    return ticks >= INTERVAL_TICKS && difference <= TOLERANCE_CYCLES;
}

/* Both counters over the interval. */
static instant measure(void) {
    start_ticks();
    const instant begin = read_both();
    wait_interval(begin.ticks);
    const instant end = read_both();
    TIM_CR1(PROOF_TIMER) = 0;
    return (instant){end.cycles - begin.cycles, ticks_between(begin.ticks, end.ticks)};
}

static void record_proof(const char *type, instant measured) {
    record_begin(type);
    record_decimal(measured.cycles);
    record_decimal(measured.ticks);
    record_end();
}

void prove_cycle_counter(void) {
    const instant measured = measure();
    record_proof("PROOF", measured);
    if (!agree(measured.cycles, measured.ticks)) {
        fail(CYCLE_COUNTER_FAULT, measured.cycles);
    }
}

/* The records are there by now, so the host judges. */
void prove_cycle_counter_still(void) {
    record_proof("STILL", measure());
}
