/** How a FreeRTOS project's heap begins, and what it is called. */

#include "allocator.h"
#include "allocators/freertos/shipped.h"

#ifdef OUTSIDE_DEFINES_REGIONS /* as heap_5 */
/* From portable.h. */
typedef struct {
    uint8_t *start;
    size_t bytes;
} outside_region;

void vPortDefineHeapRegions(const outside_region *regions);

void shipped_start(void *region, size_t bytes) {
    const outside_region regions[] = {{.start = region, .bytes = bytes},
                                      {.start = NULL, .bytes = 0}};
    vPortDefineHeapRegions(regions);
}
#else
void shipped_start(void *region, size_t bytes) {
    (void)region; /* linked: ucHeap is the facade's region */
    (void)bytes;
#ifdef OUTSIDE_TILES
    (void)pvPortMalloc(0); /* so that the first true request does not pay for the layout */
#endif
}
#endif
