/** Pulses that all channels but SYNC show at once: how far the analyzer sees them apart is its
 * skew. */
#ifndef TAILSCOPE_BENCH_COMMON_PULSES_H
#define TAILSCOPE_BENCH_COMMON_PULSES_H

/** Sends 8 pulses (docs/SPEC.md, section 2). No stimulus may run: STIM and CTRL are taken from
 * their timers. */
void send_common_pulses(void);

#endif
