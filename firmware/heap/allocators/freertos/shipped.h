/**
 * What FreeRTOS's heaps have in common, for their adapters. Macros rename their functions
 * (shipped.cmake), because pvPortMalloc() and the rest are the facade's here.
 */
#pragma once

#include <stddef.h>

/* From portable.h, which itself would bring the kernel into the host tests. */
void *pvPortMalloc(size_t wanted_bytes);
void vPortFree(void *payload);
size_t xPortGetFreeHeapSize(void);
void vPortHeapResetState(void);

/** Makes the heap what it is at start-up, over the region that it was built with. */
void shipped_start(void *region, size_t bytes);
