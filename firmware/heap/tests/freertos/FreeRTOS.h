/* What FreeRTOS's heaps take from FreeRTOS.h and its port, for a PC: as on the Cortex-M4, without
 * the kernel. */
#ifndef TAILSCOPE_HEAP_TESTS_FREERTOS_H
#define TAILSCOPE_HEAP_TESTS_FREERTOS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef long BaseType_t;
typedef unsigned long UBaseType_t;

#define pdFALSE ((BaseType_t)0)
#define pdTRUE ((BaseType_t)1)
#define portBYTE_ALIGNMENT 8
#define portBYTE_ALIGNMENT_MASK 0x0007
#define portPOINTER_SIZE_TYPE uint32_t
#define portMAX_DELAY 0xFFFFFFFFu
#define PRIVILEGED_DATA
#define PRIVILEGED_FUNCTION

#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configAPPLICATION_ALLOCATED_HEAP 1
#ifdef TAILSCOPE_REGION_OF_ANY_SIZE
/* The length of an array must be a constant, which here is what the region may have at most.
 * Wherever else the sources mention it, it is what the region has now. */
extern size_t heap_region_bytes_now; /* region.h */
#define configTOTAL_HEAP_SIZE \
    __builtin_choose_expr(__COUNTER__ < TAILSCOPE_CONSTANT_MENTIONS, (size_t)TAILSCOPE_HEAP_BYTES, \
                          heap_region_bytes_now)
#else
#define configTOTAL_HEAP_SIZE ((size_t)TAILSCOPE_HEAP_BYTES)
#endif
#define configUSE_MALLOC_FAILED_HOOK 0
#define configENABLE_HEAP_PROTECTOR 0
#define configASSERT(condition) ((condition) ? (void)0 : abort())

#define mtCOVERAGE_TEST_MARKER()
#define traceMALLOC(address, bytes)
#define traceFREE(address, bytes)

typedef struct HeapRegion {
    uint8_t *pucStartAddress;
    size_t xSizeInBytes;
} HeapRegion_t;

typedef struct xHeapStats {
    size_t xAvailableHeapSpaceInBytes;
    size_t xSizeOfLargestFreeBlockInBytes;
    size_t xSizeOfSmallestFreeBlockInBytes;
    size_t xNumberOfFreeBlocks;
    size_t xMinimumEverFreeBytesRemaining;
    size_t xNumberOfSuccessfulAllocations;
    size_t xNumberOfSuccessfulFrees;
} HeapStats_t;

void *pvPortMalloc(size_t bytes);
void vPortFree(void *payload);

#endif
