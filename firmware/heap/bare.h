/**
 * The allocator behind an adapter, as its own users call it: no judge of ours before it
 * (request.h), and nothing added to the size. The contract asks it for more than any region has.
 * NULL is the only right answer.
 *
 * Host tests alone have these. An adapter defines what its library has. Our own allocators judge
 * for themselves, so they define none, and the contract asks allocator_allocate().
 */
#ifndef TAILSCOPE_HEAP_BARE_H
#define TAILSCOPE_HEAP_BARE_H

#include <stddef.h>

#ifdef TAILSCOPE_REQUIRE
/** Defines bare_allocate(): `call` is what the library gives for `size`. */
#define BARE_ALLOCATE(call) \
    void *bare_allocate(size_t size); \
    void *bare_allocate(size_t size) { \
        return call; \
    }
/** Defines bare_allocate_aligned(): `call` is what it gives for `size` and `alignment`. */
#define BARE_ALLOCATE_ALIGNED(call) \
    void *bare_allocate_aligned(size_t size, size_t alignment); \
    void *bare_allocate_aligned(size_t size, size_t alignment) { \
        return call; \
    }
#else
#define BARE_ALLOCATE(call)
#define BARE_ALLOCATE_ALIGNED(call)
#endif

#endif
