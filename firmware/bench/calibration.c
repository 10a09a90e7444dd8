#include "bench/steps.h"

#include "bench/records.h"
#include "board/cycle_counter.h"
#include "board/markers.h"
#include "board/nvic.h"
#include "heap/port.h"

/* The first repeat fetches the section from flash, like code that runs only now and then. */
enum { SPACING_CYCLES = 200, COST_REPEATS = 16 };

typedef uint32_t (*marker)(void);

typedef struct {
    uint32_t begin, end; /* CYCCNT */
} section;

typedef struct {
    uint32_t least, most;
} range;

/* No interrupt may widen a pulse, not even one that the heap's lock does not mask. */
static section empty_section(marker begin, marker end) {
    const uint32_t previous = interrupts_mask();
    const uint32_t first = begin();
    const uint32_t last = end();
    interrupts_restore(previous);
    return (section){first, last};
}

static void calibrate_pin(const char *name, uint32_t first_index, marker begin, marker end) {
    for (uint32_t pulse = 0; pulse < CALIBRATION_PULSES; pulse++) {
        cycle_counter_wait(SPACING_CYCLES);
        const section empty = empty_section(begin, end);
        record_begin("CAL");
        record_text(name);
        record_decimal(first_index + pulse);
        record_decimal(empty.end - empty.begin);
        record_decimal(empty.begin);
        record_end();
    }
}

static range cost_of(marker section_cycles) {
    range cost = {UINT32_MAX, 0};
    for (uint32_t repeat = 0; repeat < COST_REPEATS; repeat++) {
        const uint32_t cycles = section_cycles();
        cost.least = cycles < cost.least ? cycles : cost.least;
        cost.most = cycles > cost.most ? cycles : cost.most;
    }
    return cost;
}

static void record_cost(const char *name, marker section_cycles) {
    const range cost = cost_of(section_cycles);
    record_begin("COST");
    record_text(name);
    record_decimal(cost.least);
    record_decimal(cost.most);
    record_end();
}

void calibrate(uint32_t first_index) {
    (void)cycle_counter_keep();
    calibrate_pin("CRIT", first_index, heap_port_critical_begin, heap_port_critical_end);
    calibrate_pin("OP", first_index, operation_begin, operation_end);
    record_cost("READ", counter_read_cycles);
    record_cost("PIN", pin_raise_cycles);
    record_cost("TIMER", timer_read_cycles);
    record_tick();
}
