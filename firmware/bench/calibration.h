/** What the bench's own instruments cost, found out at both ends of a run. */
#ifndef TAILSCOPE_BENCH_CALIBRATION_H
#define TAILSCOPE_BENCH_CALIBRATION_H

#include <stdint.h>

enum { CALIBRATION_PULSES = 16 };

/**
 * Sends the calibration pulses (docs/SPEC.md, section 2) and their records, numbered from
 * `first_index`, then the costs of the counter and of a pin, and the tick.
 */
void calibrate(uint32_t first_index);

#endif
