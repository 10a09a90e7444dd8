/**
 * sbrk over the facade's region, and the part of allocator.h that is the same for both of newlib's.
 */
#include "allocators/newlib/sbrk.h"

#include "allocators/counted_adapter.h"

const size_t allocator_largest_alignment = ANY_ALIGNMENT;

struct _reent newlib_reent;

static struct {
    uint8_t *start, *end; /* of the region */
    uint8_t *at;          /* what lies behind is not given yet */
} memory;

/* The hooks by which a port of newlib locks. Here the facade does that. */

void __malloc_lock(struct _reent *reent) {
    (void)reent;
}

void __malloc_unlock(struct _reent *reent) {
    (void)reent;
}

void *_sbrk_r(struct _reent *reent, ptrdiff_t bytes) {
    (void)reent;
    if (bytes > memory.end - memory.at || bytes < memory.start - memory.at) {
        return (void *)-1;
    }
    uint8_t *const before = memory.at;
    memory.at += bytes;
    return before;
}

size_t newlib_sbrk_rest_bytes(void) {
    return (size_t)(memory.end - memory.at);
}

void allocator_init(void *region, size_t bytes) {
    memory.start = memory.at = region;
    memory.end = memory.start + bytes;
    counted.region_bytes = counted.free_bytes = bytes;
    newlib_reset();
}

static void *shipped_allocate(size_t size) {
    return _malloc_r(&newlib_reent, size);
}

static void *shipped_allocate_aligned(size_t size, size_t alignment) {
    return alignment <= 8u ? shipped_allocate(size) : _memalign_r(&newlib_reent, alignment, size);
}

static void *shipped_reallocate(void *payload, size_t size) {
    return _realloc_r(&newlib_reent, payload, size);
}

static void shipped_free(void *payload) {
    _free_r(&newlib_reent, payload);
}

static size_t shipped_usable_bytes(const void *payload) {
    return _malloc_usable_size_r(&newlib_reent, (void *)(uintptr_t)payload);
}
