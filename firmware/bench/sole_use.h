/** A run begins when no debugger is left that could stop its cycle counter. */
#ifndef TAILSCOPE_BENCH_SOLE_USE_H
#define TAILSCOPE_BENCH_SOLE_USE_H

/**
 * Starts the cycle counter. Where a debugger has the core, it first waits until that has left, but
 * not for ever; where it reads the records, not at all.
 */
void start_counter_alone(void);

#endif
