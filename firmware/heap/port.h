/**
 * What the heap needs from the place it runs in: a lock and the markers around the critical
 * section. The board implements it on the core's masks or the scheduler, GPIO and DWT
 * (board/locking, board/<architecture>/markers.S); the host tests with a stub.
 */
#pragma once

#include <stdint.h>

/** Holds off whoever else may use the heap; returns what to give to heap_port_unlock(). Nests. */
uint32_t heap_port_lock(void);

/** Ends what the heap_port_lock() began that returned `previous`. */
void heap_port_unlock(uint32_t previous);

/** How the lock holds others off: "basepri", "primask" or "scheduler" on the board. */
const char *heap_port_locking(void);

/**
 * Begin marker: raises CRIT and reads CYCCNT as one indivisible pair. Returns CYCCNT, in core
 * cycles.
 */
uint32_t heap_port_critical_begin(void);

/**
 * End marker: reads CYCCNT and lowers CRIT as one indivisible pair. Returns CYCCNT, in core cycles.
 */
uint32_t heap_port_critical_end(void);
