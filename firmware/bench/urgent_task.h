/**
 * The woken task as a second user of the heap, more urgent than the bench. Only in a build with
 * TAILSCOPE_URGENT_TASK, and only once CALL_URGENT_TASK was made; elsewhere it leaves the heap
 * alone. Then TASK rises when it has the heap, not when it runs.
 */
#ifndef TAILSCOPE_BENCH_URGENT_TASK_H
#define TAILSCOPE_BENCH_URGENT_TASK_H

#include <stdint.h>

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

#endif
