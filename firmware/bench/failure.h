/** Where a run cannot go on, it says why and stops. */
#ifndef TAILSCOPE_BENCH_FAILURE_H
#define TAILSCOPE_BENCH_FAILURE_H

#include <stdint.h>

/** Sends FAIL with `reason`, one word, and `detail`; then halts. May be called from anywhere. */
void fail(const char *reason, uint32_t detail) __attribute__((noreturn));

#endif
