/**
 * FreeRTOS's heap functions (portable.h) on the facade, in place of heap_4.c. They call the
 * kernel's trace hooks and the malloc-failed hook as heap_4.c does, after the lock is released.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "FreeRTOS.h"
#include "heap.h"
#include "task.h"

/* The first function of the heap begins a 16-byte flash line. So a change of what is linked before
 * it does not move the heap's code within its lines, and its cycles stay what they were. A link
 * that is to move it (TAILSCOPE_SHIFT) begins it so many bytes behind the line. */
#ifdef TAILSCOPE_SHIFT
#define SPACE_BYTES(shift) #shift
#define SPACE(shift) ".text\n.balign 16\n.space " SPACE_BYTES(shift) "\n"
__asm__(SPACE(TAILSCOPE_SHIFT));
#define FIRST_OF_HEAP
#else
#define FIRST_OF_HEAP __attribute__((aligned(16)))
#endif

FIRST_OF_HEAP void *pvPortMalloc(size_t xWantedSize) {
    void *const payload = heap_allocate(xWantedSize);
    traceMALLOC(payload, xWantedSize);
#if (configUSE_MALLOC_FAILED_HOOK == 1)
    if (payload == NULL) {
        vApplicationMallocFailedHook();
    }
#endif
    return payload;
}

void *pvPortCalloc(size_t xNum, size_t xSize) {
    if (xSize != 0 && xNum > SIZE_MAX / xSize) {
        return NULL;
    }
    void *const payload = pvPortMalloc(xNum * xSize);
    if (payload != NULL) {
        memset(payload, 0, xNum * xSize);
    }
    return payload;
}

void vPortFree(void *pv) {
    /* A refused free leaves the heap intact; heap_last_operation() says why it was refused. */
    if (heap_free(pv) == HEAP_OK) {
        traceFREE(pv, 0);
    }
}

size_t xPortGetFreeHeapSize(void) {
    return heap_free_bytes();
}

size_t xPortGetMinimumEverFreeHeapSize(void) {
    return heap_minimum_ever_free_bytes();
}

void xPortResetHeapMinimumEverFreeHeapSize(void) {
    heap_reset_minimum_ever_free();
}

void vPortGetHeapStats(HeapStats_t *pxHeapStats) {
    const heap_statistics statistics = heap_read_statistics();
    *pxHeapStats = (HeapStats_t){
        .xAvailableHeapSpaceInBytes = statistics.free_bytes,
        .xSizeOfLargestFreeBlockInBytes = statistics.largest_free_block,
        .xSizeOfSmallestFreeBlockInBytes = statistics.smallest_free_block,
        .xNumberOfFreeBlocks = statistics.free_blocks,
        .xMinimumEverFreeBytesRemaining = statistics.minimum_ever_free_bytes,
        .xNumberOfSuccessfulAllocations = statistics.allocations,
        .xNumberOfSuccessfulFrees = statistics.frees,
    };
}

void vPortHeapResetState(void) {
    heap_reset();
}
