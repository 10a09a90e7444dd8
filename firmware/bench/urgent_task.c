/*
 * It asks the allocator itself, under the heap's lock: the facade would drive CRIT and keep this
 * operation as its last, and both are the bench's.
 */
#include "bench/other_operations.h"

#include "heap/allocator.h"
#include "heap/port.h"

enum { REQUEST_BYTES = 40 };

static bool uses_heap;

uint32_t urgent_task_begin(void) {
    uses_heap = true;
    return 0;
}

uint32_t urgent_task_enter(void) {
    return uses_heap ? heap_port_lock() : 0;
}

void urgent_task_leave(uint32_t previous) {
    if (!uses_heap) {
        return;
    }
    const allocator_result block = allocator_allocate(REQUEST_BYTES);
    if (block.status == HEAP_OK) {
        (void)allocator_free(block.payload);
    }
    heap_port_unlock(previous);
}
