/** The proof that the cycle counter counts. A counter that nobody verified is no evidence. */
#ifndef TAILSCOPE_BENCH_PROOF_H
#define TAILSCOPE_BENCH_PROOF_H

/**
 * Compares the counter with the control's timer over the same interval, or the stimulus's where
 * there is no control, and records both; fails the run if they disagree.
 */
void prove_cycle_counter(void);

/** Compares both again, at the end of a run, and records them. It gives no stimulus any more. */
void prove_cycle_counter_still(void);

#endif
