/**
 * heap_5 of FreeRTOS as shipped: heap_4 over several regions, of which it has one here.
 * FreeRTOS-Kernel V11.2.0, portable/MemMang/heap_5.c, MIT licence. Its locking is heap_4's.
 */
#define OUTSIDE_DEFINES_REGIONS
#include "allocators/freertos/start.c"

ALLOCATOR_NAME
