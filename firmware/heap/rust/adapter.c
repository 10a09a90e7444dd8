/**
 * allocator.h on a Rust allocator (rust_heap.h). What the crate cannot tell is kept here: the sum
 * of what is live. The name and the overhead, which depend on the crate, are in
 * ../allocators/<id>.c.
 */
#include "rust_heap.h"

#include "request.h"

#define NATURAL_ALIGNMENT ((size_t)8)

const size_t allocator_largest_alignment = ANY_ALIGNMENT;

static struct {
    size_t bytes;      /* of the region */
    size_t live_bytes; /* payload and overhead of live blocks */
} heap;

static size_t with_overhead(size_t usable_bytes) {
    return usable_bytes + allocator_overhead.block;
}

void allocator_init(void *region, size_t bytes) {
    HEAP_REQUIRE((uintptr_t)region % NATURAL_ALIGNMENT == 0);
    rust_heap_init(region, bytes);
    heap.bytes = bytes;
    heap.live_bytes = allocator_overhead.heap;
}

#ifndef TAKES_16_BITS /* allocators/tlsf_crate.cmake: it cannot be asked for too much */
BARE_ALLOCATE(rust_heap_allocate(size, NATURAL_ALIGNMENT).payload)
BARE_ALLOCATE_ALIGNED(rust_heap_allocate(size, alignment).payload)
#endif

/** Enters what the crate gave in the account. */
static allocator_result answer(rust_heap_block found) {
    if (found.payload != NULL) {
        heap.live_bytes += with_overhead(found.usable_bytes);
    }
    return request_answer(found.payload, found.usable_bytes);
}

allocator_result allocator_allocate(size_t size) {
    ANSWER_IF_OK(request_judge(size, heap.bytes),
                 answer(rust_heap_allocate(size, NATURAL_ALIGNMENT)));
}

allocator_result allocator_allocate_aligned(size_t size, size_t alignment) {
    REFUSE_OR_ALLOCATE(NATURAL_ALIGNMENT, heap.bytes);
    return answer(rust_heap_allocate(size, alignment));
}

allocator_result allocator_reallocate(void *payload, size_t size) {
    REFUSE_UNLESS_OK(rust_heap_reallocates() ? request_judge(size, heap.bytes) : HEAP_UNSUPPORTED);
    const size_t usable_before = rust_heap_usable_bytes(payload);
    const rust_heap_block found = rust_heap_reallocate(payload, size);
    if (found.payload != NULL) {
        heap.live_bytes -= with_overhead(usable_before);
    }
    return answer(found);
}

heap_status allocator_free(void *payload) {
    REFUSE_NO_BLOCK(payload, heap.bytes == 0);
    HEAP_REQUIRE((uintptr_t)payload % NATURAL_ALIGNMENT == 0);
    HEAP_REQUIRE(with_overhead(rust_heap_usable_bytes(payload)) <= heap.live_bytes);
    heap.live_bytes -= with_overhead(rust_heap_free(payload));
    return HEAP_OK;
}

size_t allocator_usable_size(const void *payload) {
    return payload == NULL || heap.bytes == 0 ? 0 : rust_heap_usable_bytes(payload);
}

size_t allocator_free_bytes(void) {
    return heap.bytes - heap.live_bytes;
}

/**
 * By trial. A block that is taken and freed at once leaves everything as it was, even the order of
 * the lists.
 */
static bool is_served(uint32_t size) {
    const rust_heap_block found = rust_heap_allocate(size, NATURAL_ALIGNMENT);
    if (found.payload == NULL) {
        return false;
    }
    (void)rust_heap_free(found.payload);
    return true;
}

size_t allocator_largest_free_block(void) {
    return request_bisect(0, heap.bytes + 1u, is_served);
}

allocator_free_space allocator_read_free(void) {
    allocator_free_space space;
    rust_heap_read_free(&space);
    return space;
}

allocator_extent allocator_extent_of(const void *payload) {
    const uintptr_t begin = (uintptr_t)rust_heap_block_begin(payload);
    return (allocator_extent){.begin = begin,
                              .end = (uintptr_t)payload + rust_heap_usable_bytes(payload)};
}

/** By trial where the crate shows nobody its blocks; these serve whatever fits a block. */
size_t allocator_largest_free_extent(void) {
    const size_t told = rust_heap_largest_free();
    return with_header(told != 0 ? told : allocator_largest_free_block(), allocator_overhead.block);
}

NO_PROBES

NO_CHECK

void rust_heap_panic(void) {
    __builtin_trap();
}
