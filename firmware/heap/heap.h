/**
 * The facade: the heap as FreeRTOS and the bench see it. It owns locking, markers, statistics and
 * the witness of the last operation, and stands above exactly one allocator (allocator.h).
 * pvPortMalloc() and vPortFree() are thin calls of heap_allocate() and heap_free().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Outcome of a heap operation. Everything but HEAP_OK left the heap as it was. */
typedef enum {
    HEAP_OK = 0,
    HEAP_OUT_OF_MEMORY, /**< no free block is large enough */
    HEAP_ZERO_SIZE,     /**< a request of zero bytes: refused */
    HEAP_NULL,          /**< free of NULL: nothing to do */
    HEAP_MISALIGNED,    /**< not a multiple of the heap's alignment */
    HEAP_FOREIGN,       /**< outside the region, or no block starts there */
    HEAP_DOUBLE_FREE,   /**< the block is free already */
    HEAP_CORRUPT,       /**< a header's invariant is broken */
    HEAP_BAD_ALIGNMENT, /**< requested alignment is no power of two, or too large */
    HEAP_UNSUPPORTED,   /**< the allocator has no such operation */
} heap_status;

/** What was witnessed of the last operation. */
typedef struct {
    heap_status status;
    uint32_t critical_cycles; /**< CYCCNT between the markers, core cycles */
    uint32_t probes;          /**< what the allocator's search looked at */
    size_t live_blocks;       /**< after the operation */
    size_t bytes_in_use; /**< payload bytes as the allocator rounds them, after the operation */
} heap_witness;

/** Statistics of the region; sizes are payload bytes as the allocator rounds them. */
typedef struct {
    size_t live_blocks;
    size_t bytes_in_use;
    size_t free_bytes;
    size_t free_blocks;
    size_t largest_free_block; /**< the largest request that would succeed now */
    size_t smallest_free_block;
    size_t minimum_ever_free_bytes;
    size_t allocations, frees; /**< successful ones */
} heap_statistics;

/**
 * (Re)initialises the allocator over its whole region: one free block. Not concurrent with
 * anything. Before the first reset every allocation is out of memory and every free is refused.
 */
void heap_reset(void);

/**
 * A payload of at least `size` bytes, 8-byte aligned, or NULL: heap_last_operation() says why.
 * Every call has exactly one critical section, a refused one too.
 */
void *heap_allocate(size_t size);

/** As heap_allocate(); the payload is a multiple of `alignment`, a power of two. */
void *heap_allocate_aligned(size_t size, size_t alignment);

/**
 * Makes a live payload hold `size` bytes, there or elsewhere, with its content as far as both sizes
 * reach, and returns it. NULL: the block is as it was, and heap_last_operation() says why.
 * HEAP_UNSUPPORTED: the allocator has no reallocation of its own, or none for a payload that was
 * aligned above 8. A `payload` of NULL is an allocation. One critical section.
 */
void *heap_reallocate(void *payload, size_t size);

/**
 * Frees a live payload. Anything else is refused, and the status says why, except by allocators
 * that do not promise to check (catalogue.toml). Exactly one critical section, as heap_allocate().
 */
heap_status heap_free(void *payload);

/**
 * What was witnessed of the last heap_allocate*(), heap_reallocate() or heap_free(), in constant
 * time. The caller sees to it that no other operation comes between.
 */
heap_witness heap_last_operation(void);

/** Statistics; the region is walked under the lock, so this is not for timed code. */
heap_statistics heap_read_statistics(void);

/** Sum of free payload bytes, in constant time. */
size_t heap_free_bytes(void);

/** The least that was ever free since the reset, in constant time. */
size_t heap_minimum_ever_free_bytes(void);

/** Begins the minimum anew, with what is free now. */
void heap_reset_minimum_ever_free(void);

/** True if every header, link and index invariant holds. Walks the region. */
bool heap_check(void);

/** Name of the allocator compiled in, e.g. "tlsf". */
const char *heap_allocator_name(void);

/**
 * The allocator's knobs as they were built, e.g. "TLSF_OCTAVES=14/TLSF_SLOTS=16"; "none" if it has
 * none.
 */
const char *heap_knobs(void);

/** What holds others off while the heap works: the port's lock, e.g. "basepri". */
const char *heap_locking(void);

/** Size of the region, bytes. */
size_t heap_region_bytes(void);
