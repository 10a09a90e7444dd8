#include "bench/other_operations.h"

#include "FreeRTOS.h"
#include "bench/stimulus.h"
#include "heap/port.h"
#include "task.h"

/* Names that the linker's --wrap prescribes. */
void __real_vPortEnterCritical(void);
void __real_vPortExitCritical(void);

static struct {
    volatile bool on;
    uint32_t depth;
    uint32_t begin_cycles;
    uint32_t sum_cycles;
} marks;

void kernel_marks_begin(void) {
    marks.depth = 0;
    marks.sum_cycles = 0;
    marks.on = true;
}

uint32_t kernel_marks_end(void) {
    marks.on = false;
    return marks.sum_cycles;
}

static bool counts(void) {
    return marks.on && !stimulus_task_is_running();
}

void __wrap_vPortEnterCritical(void) {
    __real_vPortEnterCritical();
    if (counts() && marks.depth++ == 0u) {
        marks.begin_cycles = heap_port_critical_begin();
    }
}

void __wrap_vPortExitCritical(void) {
    if (counts() && marks.depth > 0u && --marks.depth == 0u) {
        marks.sum_cycles += heap_port_critical_end() - marks.begin_cycles;
    }
    __real_vPortExitCritical();
}
