/** What the bench's own instruments cost, measured at both ends of a run. */
#ifndef TAILSCOPE_BENCH_CALIBRATION_H
#define TAILSCOPE_BENCH_CALIBRATION_H

#include <stdint.h>

enum { CALIBRATION_PULSES = 16 };

/**
 * Sends the calibration pulses (docs/reference/wire.md) and their records, numbered from
 * `first_index`. Then records what the counter and a pin cost, and the tick.
 */
void calibrate(uint32_t first_index);

#endif
