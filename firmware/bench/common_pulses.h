/** Pulses on all channels but SYNC at once. How far apart the analyzer sees them is its skew. */
#ifndef TAILSCOPE_BENCH_COMMON_PULSES_H
#define TAILSCOPE_BENCH_COMMON_PULSES_H

/**
 * Sends 8 pulses (docs/reference/wire.md). No stimulus may be running, because STIM and CTRL are
 * taken from their timers.
 */
void send_common_pulses(void);

#endif
