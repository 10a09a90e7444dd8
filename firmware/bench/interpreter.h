/**
 * Runs the operations of an image against the heap, one record each (docs/reference/wire.md,
 * docs/reference/records.md).
 */
#ifndef TAILSCOPE_BENCH_INTERPRETER_H
#define TAILSCOPE_BENCH_INTERPRETER_H

#include <stdint.h>

#include "bench/image.h"

/** Runs every entry of a checked image in order; returns the number of operations. */
uint32_t interpret(const image *checked);

#endif
