/** sbrk over the facade's region, and allocator.h as far as both of newlib's allocators answer it alike. */
#include "allocators/newlib/sbrk.h"

#include "allocators/request.h"

struct _reent newlib_reent;

static struct {
    uint8_t *start, *end; /* of the region */
    uint8_t *at;          /* what lies behind was not asked for */
    size_t free_bytes;
} memory;

/* The hooks, by which a port of newlib would lock: here the facade does. */

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

static size_t region_bytes(void) {
    return (size_t)(memory.end - memory.start);
}

void allocator_init(void *region, size_t bytes) {
    memory.start = memory.at = region;
    memory.end = memory.start + bytes;
    memory.free_bytes = bytes;
    newlib_reset();
}

static allocator_result answer(void *payload) {
    const size_t usable_bytes = allocator_usable_size(payload);
    memory.free_bytes -= usable_bytes;
    return request_answer(payload, usable_bytes);
}

allocator_result allocator_allocate(size_t size) {
    const heap_status status = request_judge(size, region_bytes());
    return status == HEAP_OK ? answer(_malloc_r(&newlib_reent, size)) : request_refused(status);
}

allocator_result allocator_allocate_aligned(size_t size, size_t alignment) {
    const heap_status status = request_judge_aligned(size, alignment, region_bytes());
    if (status != HEAP_OK || alignment <= 8u) {
        return status == HEAP_OK ? allocator_allocate(size) : request_refused(status);
    }
    return answer(_memalign_r(&newlib_reent, alignment, size));
}

allocator_result allocator_reallocate(void *payload, size_t size) {
    const heap_status status = request_judge(size, region_bytes());
    if (status != HEAP_OK) {
        return request_refused(status);
    }
    const size_t usable_before = allocator_usable_size(payload);
    void *const moved = _realloc_r(&newlib_reent, payload, size);
    memory.free_bytes += moved == NULL ? 0 : usable_before;
    return answer(moved);
}

heap_status allocator_free(void *payload) {
    if (payload == NULL || region_bytes() == 0) {
        return payload == NULL ? HEAP_NULL : HEAP_FOREIGN;
    }
    memory.free_bytes += allocator_usable_size(payload);
    _free_r(&newlib_reent, payload);
    return HEAP_OK;
}

size_t allocator_usable_size(const void *payload) {
    if (payload == NULL || region_bytes() == 0) {
        return 0;
    }
    return _malloc_usable_size_r(&newlib_reent, (void *)(uintptr_t)payload);
}

/** What of the region is not live payload, headers included. */
size_t allocator_free_bytes(void) {
    return memory.free_bytes;
}

uint32_t allocator_probes(void) {
    return 0; /* counted from outside (README, Probes) */
}
