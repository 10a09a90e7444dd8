/**
 * Empty marked sections: they give the constant by which the wire and DWT differ, and what a marker pair
 * costs.
 */
#ifndef TAILSCOPE_BENCH_CALIBRATION_H
#define TAILSCOPE_BENCH_CALIBRATION_H

/** 16 pulses on CRIT, then 16 on OP, each with its record. */
void calibrate(void);

#endif
