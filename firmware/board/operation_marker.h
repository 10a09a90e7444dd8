/**
 * Markers of one whole heap operation on OP, made like the heap's own (heap/port.h): see markers.S.
 */
#ifndef TAILSCOPE_BOARD_OPERATION_MARKER_H
#define TAILSCOPE_BOARD_OPERATION_MARKER_H

#include <stdint.h>

/** Raises OP, then reads CYCCNT. Returns CYCCNT, in core cycles. */
uint32_t operation_begin(void);

/** Reads CYCCNT, then lowers OP. Returns CYCCNT, in core cycles. */
uint32_t operation_end(void);

#endif
