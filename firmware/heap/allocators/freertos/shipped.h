/**
 * What FreeRTOS's heaps have in common, for their adapters. Their functions are renamed by macros
 * (shipped.cmake), since pvPortMalloc() and the rest belong to whoever the facade serves.
 */
#ifndef TAILSCOPE_HEAP_ALLOCATORS_FREERTOS_SHIPPED_H
#define TAILSCOPE_HEAP_ALLOCATORS_FREERTOS_SHIPPED_H

#include <stddef.h>

/* Of portable.h; the header itself would bring the kernel into the host tests. */
void *pvPortMalloc(size_t wanted_bytes);
void vPortFree(void *payload);
size_t xPortGetFreeHeapSize(void);
void vPortHeapResetState(void);

/** Makes the heap what it is at start-up, over the region that it was built with. */
void shipped_start(void *region, size_t bytes);

#endif
