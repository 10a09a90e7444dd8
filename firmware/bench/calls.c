#include "bench/other_operations.h"

#include <stddef.h>

#include "bench/records.h"
#include "board/markers.h"
#include "heap/port.h"

/* All that a heap operation does except for the allocator's work. */
static uint32_t empty(void) {
    const uint32_t mask = heap_port_lock();
    const uint32_t begin_cycles = heap_port_critical_begin();
    const uint32_t end_cycles = heap_port_critical_end();
    heap_port_unlock(mask);
    return end_cycles - begin_cycles;
}

/* The function that makes the call; NULL for one that the build is without. */
static uint32_t (*body(call_number number))(void) {
#ifdef TAILSCOPE_URGENT_TASK
    if (number == CALL_URGENT_TASK) {
        return urgent_task_begin;
    }
#endif
#ifdef TAILSCOPE_KERNEL_CALLS
    return number == CALL_EMPTY ? empty : kernel_call(number);
#else
    return number == CALL_EMPTY ? empty : NULL;
#endif
}

call_cost call(call_number number) {
    uint32_t (*const make)(void) = body(number);
    if (make == NULL) {
        fail("call", number);
    }
    const uint32_t begin_cycles = operation_begin();
    const uint32_t critical_cycles = make();
    const uint32_t end_cycles = operation_end();
    return (call_cost){end_cycles - begin_cycles, critical_cycles};
}
