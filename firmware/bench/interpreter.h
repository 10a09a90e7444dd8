/** Runs the operations of an image against the heap, one record each (docs/SPEC.md, sections 2 and 4). */
#ifndef TAILSCOPE_BENCH_INTERPRETER_H
#define TAILSCOPE_BENCH_INTERPRETER_H

#include <stddef.h>
#include <stdint.h>

#include "bench/image.h"

/** What the heap should hold by the outcomes of the operations so far. */
typedef struct {
    size_t live_blocks;
    size_t bytes_in_use; /**< payload bytes as the allocator rounds them */
} heap_account;

/** Runs every entry of a checked image in order; returns the number of operations. */
uint32_t interpret(const image *checked);

heap_account interpreter_account(void);

#endif
