/**
 * What the heap needs from the place it runs in: a lock and the markers around the critical section.
 * The board implements it on BASEPRI, GPIO and DWT (board/heap_port.c); the host tests with a stub.
 */
#ifndef TAILSCOPE_HEAP_PORT_H
#define TAILSCOPE_HEAP_PORT_H

#include <stdint.h>

/** Masks the interrupts that may use the kernel; returns the previous mask. Nests. */
uint32_t heap_port_lock(void);

/** Restores the mask that heap_port_lock() returned. */
void heap_port_unlock(uint32_t previous);

/**
 * Begin marker: raises CRIT and reads CYCCNT as one indivisible pair.
 * Returns CYCCNT, in core cycles.
 */
uint32_t heap_port_critical_begin(void);

/** End marker: reads CYCCNT and lowers CRIT as one indivisible pair. Returns CYCCNT, in core cycles. */
uint32_t heap_port_critical_end(void);

#endif
