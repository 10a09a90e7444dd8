/**
 * What newlib's allocators stand on: memory that grows by sbrk over the region, and locks that do
 * nothing, since the facade locks.
 */
#pragma once

#include <reent.h>
#include <stddef.h>

/* newlib's allocators use it for the error number only. */
extern struct _reent newlib_reent;

void *_malloc_r(struct _reent *reent, size_t bytes);
void _free_r(struct _reent *reent, void *payload);
void *_realloc_r(struct _reent *reent, void *payload, size_t bytes);
void *_memalign_r(struct _reent *reent, size_t alignment, size_t bytes);
size_t _malloc_usable_size_r(struct _reent *reent, void *payload);

/** Bytes of the region that sbrk has not given yet. */
size_t newlib_sbrk_rest_bytes(void);

/** Makes the allocator itself what it is at start-up. */
void newlib_reset(void);
