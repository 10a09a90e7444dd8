/**
 * heap_5 of FreeRTOS as shipped: heap_4 over several regions, of which it has one here.
 * FreeRTOS-Kernel V11.2.0, portable/MemMang/heap_5.c, MIT licence. Its locking is heap_4's.
 */
#include "allocator.h"
#include "allocators/freertos/shipped.h"

/* From portable.h. */
typedef struct {
    uint8_t *start;
    size_t bytes;
} shipped_region;

void vPortDefineHeapRegions(const shipped_region *regions);

void shipped_start(void *region, size_t bytes) {
    const shipped_region regions[] = {{.start = region, .bytes = bytes},
                                      {.start = NULL, .bytes = 0}};
    vPortDefineHeapRegions(regions);
}

ALLOCATOR_NAME
