/** The beginning and the end of a run. */
#pragma once

#include <stdint.h>

/*
 * Why the core was reset.
 */

/**
 * The flags of RCC_CSR as the family has them: the causes of all resets since the last call,
 * which this one clears.
 */
uint32_t reset_cause_take(void);

/*
 * The end of every run.
 */

/** Silences every interrupt source and spins for ever. */
void halt(void) __attribute__((noreturn));
