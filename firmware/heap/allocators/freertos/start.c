/**
 * How a heap of FreeRTOS begins: with regions that it is told (heap_5), or over an array of its
 * own, the facade's region, which most lay out at their first request.
 */
#include "allocator.h"
#include "allocators/freertos/shipped.h"

#ifdef OUTSIDE_DEFINES_REGIONS
/* From portable.h. */
typedef struct {
    uint8_t *start;
    size_t bytes;
} shipped_region;

void vPortDefineHeapRegions(const shipped_region *regions);
#endif

void shipped_start(void *region, size_t bytes) {
#ifdef OUTSIDE_DEFINES_REGIONS
    const shipped_region regions[] = {{.start = region, .bytes = bytes},
                                      {.start = NULL, .bytes = 0}};
    vPortDefineHeapRegions(regions);
#else
    (void)region;
    (void)bytes;
#ifndef OUTSIDE_PLAIN
    (void)pvPortMalloc(0); /* so that the first true request does not pay for the layout */
#endif
#endif
}
