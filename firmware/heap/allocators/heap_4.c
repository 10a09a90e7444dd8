/**
 * heap_4 of FreeRTOS as shipped: one list of free blocks in order of address, first fit, neighbours
 * merged. FreeRTOS-Kernel V11.2.0, portable/MemMang/heap_4.c, MIT licence.
 *
 * It takes its own lock: it suspends the scheduler and masks no interrupt. So the facade's lock is
 * of the same kind (TAILSCOPE_LOCKING is scheduler), and the heap's own nests within. Under a mask
 * its xTaskResumeAll() would end the mask before the walk's book-keeping is done.
 */
#include "allocator.h"

ALLOCATOR_NAME
