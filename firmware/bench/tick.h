/** The kernel's tick: where it lies in core cycles, and how long its handler takes. */
#ifndef TAILSCOPE_BENCH_TICK_H
#define TAILSCOPE_BENCH_TICK_H

/** Measures both over two ticks and records them (TICK). No other interrupt may be running. */
void record_tick(void);

#endif
