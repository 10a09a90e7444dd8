/**
 * heap_4 of FreeRTOS as shipped: one list of free blocks in order of address, first fit, neighbours
 * merged. FreeRTOS-Kernel V11.2.0, portable/MemMang/heap_4.c, MIT licence.
 *
 * It takes its own lock: it suspends the scheduler and masks no interrupt. The facade's lock is
 * therefore the same kind (TAILSCOPE_LOCKING is scheduler), within which the heap's own nests;
 * under a mask its xTaskResumeAll() would end the mask before the walk's book-keeping is done.
 */
#include "allocators/freertos/shipped.h"

#include "allocator.h"

void shipped_start(void *region, size_t bytes) {
    (void)region; /* linked: ucHeap is the facade's region */
    (void)bytes;
    /* A request of nothing lays out the first block, which the first true one would otherwise pay
     * for. */
    (void)pvPortMalloc(0);
}

const char *allocator_name(void) {
    return "heap_4";
}
