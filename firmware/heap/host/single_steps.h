/** How many instructions a piece of work takes on this PC, counted one by one. */
#ifndef TAILSCOPE_HEAP_HOST_SINGLE_STEPS_H
#define TAILSCOPE_HEAP_HOST_SINGLE_STEPS_H

#include <stdint.h>

/**
 * Does `work` in a copy of this process, one instruction at a time (ptrace, PTRACE_SINGLESTEP), and
 * returns how many there were, the call and its return included. A repeated string instruction
 * counts once for each repetition. -1 if this machine does not allow it, or the work did not end.
 */
int64_t single_steps(void (*work)(void));

#endif
