/**
 * A shadow of the heap: which blocks are live, what was asked for and what was written into each.
 * It knows nothing of the allocator's format.
 */
#ifndef TAILSCOPE_HEAP_TESTS_SHADOW_H
#define TAILSCOPE_HEAP_TESTS_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Blocks that may live at once. */
#ifndef TAILSCOPE_SHADOW_LIMIT
#define TAILSCOPE_SHADOW_LIMIT 8192
#endif
/** Operations of a churn that looks at every block after every operation. */
#ifndef TAILSCOPE_CHURN_OPERATIONS
#define TAILSCOPE_CHURN_OPERATIONS 4000
#endif
enum { SHADOW_LIMIT = TAILSCOPE_SHADOW_LIMIT };

/**
 * What payloads are held to where no more was asked for, a number in decimal; NULL: 8 bytes, as the
 * contract says. So an allocator that aligns to 4 is tried on all other rules too.
 */
void shadow_take_alignment(const char *bytes);

/** Forgets every block and resets the heap. */
void shadow_reset(void);

size_t shadow_live(void);

/** Allocates and fills; false if there was no memory. Asserts alignment, usable size and status. */
bool shadow_allocate(size_t size, size_t alignment, uint8_t fill);

/**
 * Asserts that block `chosen` still holds what was written, and frees it. The last block takes its
 * place.
 */
void shadow_free(size_t chosen);

/** Frees all in an order drawn from `seed`. */
void shadow_free_all(uint32_t seed);

/**
 * Reallocates, and fills what is new; false if there was no memory. Asserts that the content came
 * along.
 */
bool shadow_reallocate(size_t chosen, size_t size);

/**
 * Asserts that no two live blocks overlap, that all lie in one region, and that each holds what was
 * written.
 */
void shadow_check(void);

/** Sum of what the allocator says the live blocks can hold. */
size_t shadow_usable_bytes(void);

#endif
