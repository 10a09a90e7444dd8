/** The proof that DWT counts. A counter that nobody verified is no evidence. */
#ifndef TAILSCOPE_BENCH_PROOF_H
#define TAILSCOPE_BENCH_PROOF_H

/**
 * Compares CYCCNT with the control's timer over the same interval and records both; fails the run
 * if they disagree.
 */
void prove_cycle_counter(void);

/** Compares both again, at the end of a run, and records them. It gives no stimulus any more. */
void prove_cycle_counter_still(void);

#endif
