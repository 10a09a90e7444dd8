/**
 * FreeRTOS's heap functions (portable.h) on the facade, in place of heap_4.c. They call the
 * kernel's trace hooks and the malloc-failed hook as heap_4.c does, after the lock is released.
 */
#include <string.h>

#include "FreeRTOS.h"
#include "heap.h"
#include "task.h"

void *pvPortMalloc(size_t xWantedSize) {
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
