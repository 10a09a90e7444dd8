/** Operations that are no heap operations, and who preempts whom. */
#pragma once

#include "bench/image.h"

/*
 * Operations that are no heap operations, between the same markers
 * (docs/reference/operation-image.md, kind 4).
 */

/** What a call cost, in core cycles. */
typedef struct {
    uint32_t operation_cycles;
    uint32_t critical_cycles; /**< the sum of its critical sections */
} call_cost;

/** Makes the call between the markers of an operation. */
call_cost call(call_number number);

/*
 * Calls of FreeRTOS that have critical sections of the kernel. Only in a build with
 * TAILSCOPE_KERNEL_CALLS.
 */

/**
 * The function that makes the call `number` and returns the sum of its critical sections, in core
 * cycles; NULL if there is no such call.
 */
uint32_t (*kernel_call(call_number number))(void);

/*
 * Raises CRIT inside the kernel's critical sections without a change to its sources: the linker
 * leads vPortEnterCritical and vPortExitCritical through here (--wrap). The port also sets masks
 * inline, in PendSV, in SysTick's handler and in functions for interrupts; these are not seen.
 */

/** From here on the critical sections of every task but the woken one are marked. */
void kernel_marks_begin(void);

/** No further marks. Returns the sum of the marked sections since the begin, in core cycles. */
uint32_t kernel_marks_end(void);

/*
 * The woken task as a second user of the heap, more urgent than the bench. Only in a build with
 * TAILSCOPE_URGENT_TASK, and only once CALL_URGENT_TASK was made; elsewhere it leaves the heap
 * alone. Then TASK rises when it has the heap, not when it runs.
 */

#ifdef TAILSCOPE_URGENT_TASK

/** The call: from now on the woken task uses the heap. Returns 0, as it has no critical section. */
uint32_t urgent_task_begin(void);

/** Takes the heap's lock, as soon as the bench's own section lets it. */
uint32_t urgent_task_enter(void);

/** Allocates a block, frees it, and gives back the lock; `previous` is what enter returned. */
void urgent_task_leave(uint32_t previous);

#else

static inline uint32_t urgent_task_enter(void) {
    return 0;
}

static inline void urgent_task_leave(uint32_t previous) {
    (void)previous;
}

#endif

/*
 * Who preempts whom among the tasks. The idle task has 0.
 */

#ifdef TAILSCOPE_KERNEL_CALLS
#include "FreeRTOS.h"

/* The timer task answers a command at once, and the woken task comes before it. */
enum { TASK_PRIORITY_BENCH = 1, TASK_PRIORITY_WOKEN = configTIMER_TASK_PRIORITY + 1 };
#else
enum { TASK_PRIORITY_BENCH = 1, TASK_PRIORITY_WOKEN = 2 };
#endif
