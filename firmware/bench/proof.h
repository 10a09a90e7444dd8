/** The proof that DWT counts: a counter that was not verified is not evidence. */
#ifndef TAILSCOPE_BENCH_PROOF_H
#define TAILSCOPE_BENCH_PROOF_H

/** Compares CYCCNT with TIM5 over the same interval and records both; fails the run if they
 * disagree. */
void prove_cycle_counter(void);

#endif
