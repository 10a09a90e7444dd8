#include "bench/calibration.h"

#include <stdint.h>

#include "bench/recorder.h"
#include "board/cycle_counter.h"
#include "board/operation_marker.h"
#include "heap/port.h"

enum { PULSES = 16, SPACING_CYCLES = 200 };

typedef uint32_t (*marker)(void);

/* Under the heap's lock, as the heap's own sections are: SysTick does not widen a pulse. */
static uint32_t empty_section(marker begin, marker end) {
    const uint32_t previous = heap_port_lock();
    const uint32_t first = begin();
    const uint32_t last = end();
    heap_port_unlock(previous);
    return last - first;
}

static void calibrate_pin(const char *name, marker begin, marker end) {
    for (uint32_t index = 0; index < PULSES; index++) {
        cycle_counter_wait(SPACING_CYCLES);
        const uint32_t cycles = empty_section(begin, end);
        record_begin("CAL");
        record_text(name);
        record_decimal(index);
        record_decimal(cycles);
        record_end();
    }
}

void calibrate(void) {
    calibrate_pin("CRIT", heap_port_critical_begin, heap_port_critical_end);
    calibrate_pin("OP", operation_begin, operation_end);
}
