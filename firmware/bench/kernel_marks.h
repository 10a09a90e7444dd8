/**
 * Raises CRIT inside the kernel's critical sections without a change to its sources: the linker
 * leads vPortEnterCritical and vPortExitCritical through here (--wrap). The port also sets masks
 * inline, in PendSV, in SysTick's handler and in functions for interrupts; these are not seen.
 */
#ifndef TAILSCOPE_BENCH_KERNEL_MARKS_H
#define TAILSCOPE_BENCH_KERNEL_MARKS_H

#include <stdint.h>

/** From here on the critical sections of every task but the woken one are marked. */
void kernel_marks_begin(void);

/** No further marks. Returns the sum of the marked sections since the begin, in core cycles. */
uint32_t kernel_marks_end(void);

#endif
