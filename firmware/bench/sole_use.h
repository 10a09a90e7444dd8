/** A run begins when no debugger is left that could stop its cycle counter. */
#ifndef TAILSCOPE_BENCH_SOLE_USE_H
#define TAILSCOPE_BENCH_SOLE_USE_H

/**
 * Starts the cycle counter. Where the image says that a debugger leaves, it first waits until that
 * has let go of the core, but not for ever.
 */
void start_counter_alone(void);

#endif
