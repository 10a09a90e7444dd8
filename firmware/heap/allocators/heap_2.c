/**
 * heap_2 of FreeRTOS as shipped: one list of free blocks in order of size, so the first fit is the
 * best; nothing is merged. FreeRTOS-Kernel V11.2.0, portable/MemMang/heap_2.c, MIT licence.
 *
 * Its locking is heap_4's.
 */
#include "allocator.h"

ALLOCATOR_NAME
