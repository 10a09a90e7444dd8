/** The steps of a run, in which main.c takes them. */
#pragma once

#include "bench/image.h"

/*
 * A run begins when no debugger is left that could stop its cycle counter.
 */

/**
 * Starts the cycle counter. Where the image says that a debugger leaves, it first waits until that
 * has let go of the core, but not for ever.
 */
void start_counter_alone(void);

/*
 * The proof that the cycle counter counts. A counter that nobody verified is no evidence.
 */

/**
 * Compares the counter with the control's timer over the same interval, or the stimulus's where
 * there is no control, and records both; fails the run if they disagree.
 */
void prove_cycle_counter(void);

/** Compares both again, at the end of a run, and records them. It gives no stimulus any more. */
void prove_cycle_counter_still(void);

/*
 * Pulses on all channels but SYNC at once. How far apart the analyzer sees them is its skew.
 */

/**
 * Sends 8 pulses (docs/reference/wire.md). No stimulus may be running, because STIM and CTRL are
 * taken from their timers.
 */
void send_common_pulses(void);

/*
 * The frames on SYNC that bracket a run: 64 edges timed by hardware (docs/reference/wire.md).
 */

void send_start_frame(void);

/** Brings SYNC low and waits the quiet time before it. */
void send_end_frame(void);

/*
 * What the bench's own instruments cost, measured at both ends of a run.
 */

enum { CALIBRATION_PULSES = 16 };

/**
 * Sends the calibration pulses (docs/reference/wire.md) and their records, numbered from
 * `first_index`. Then records what the counter and a pin cost, and the tick.
 */
void calibrate(uint32_t first_index);

/*
 * The kernel's tick: where it lies in core cycles, and how long its handler takes.
 */

/** Measures both over two ticks and records them (TICK). No other interrupt may be running. */
void record_tick(void);

/*
 * Runs the operations of an image against the heap, one record each (docs/reference/wire.md,
 * docs/reference/records.md).
 */

/** Runs every entry of a checked image in order; returns the number of operations. */
uint32_t interpret(const image *checked);
