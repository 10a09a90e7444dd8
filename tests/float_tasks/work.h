/** What each task computes: single precision only, the same on the target and on the host. */
#ifndef FLOAT_TASKS_WORK_H
#define FLOAT_TASKS_WORK_H

#include <stdint.h>

enum { WORKS = 4, WORK_STEPS = 500, STEPS_PER_YIELD = 16 };

/**
 * Computes work `index`, calling `yield` between its steps now and then; returns a digest of every
 * step's bits.
 */
uint32_t work(unsigned index, void (*yield)(void));

#endif
