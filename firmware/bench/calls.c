#include "bench/calls.h"

#include "board/operation_marker.h"
#include "heap/port.h"

/* What every operation of the heap consists of but the allocator's work. */
static uint32_t empty(void) {
    const uint32_t mask = heap_port_lock();
    const uint32_t begin_cycles = heap_port_critical_begin();
    const uint32_t end_cycles = heap_port_critical_end();
    heap_port_unlock(mask);
    return end_cycles - begin_cycles;
}

static uint32_t (*const bodies[CALLS])(void) = {
    [CALL_EMPTY] = empty,
};

call_cost call(call_number number) {
    const uint32_t begin_cycles = operation_begin();
    const uint32_t critical_cycles = bodies[number]();
    const uint32_t end_cycles = operation_end();
    return (call_cost){end_cycles - begin_cycles, critical_cycles};
}
