/**
 * heap_1 of FreeRTOS as shipped: hands out what comes next and never frees. Its locking is
 * heap_4's. FreeRTOS-Kernel V11.2.0, portable/MemMang/heap_1.c, MIT licence.
 *
 * Every free is refused (HEAP_UNSUPPORTED), so scenarios that free cannot run on it. There are no
 * headers, so nobody knows later what a live block can hold. It aligns to 8; for more, the payload
 * begins further in.
 */
#include "allocators/freertos/shipped.h"
#include "request.h"

/* The facade's region, which is its array. Weak, so that an image without the facade stays so. */
extern uint8_t heap_region[] __attribute__((weak));

static size_t region_bytes;

/* heap_1 keeps 8 bytes for alignment and never hands out the last 8. */
const allocator_overhead_bytes allocator_overhead = {.heap = 16, .block = 0, .smallest_block = 8};
const size_t allocator_largest_alignment = ANY_ALIGNMENT;

void allocator_init(void *region, size_t bytes) {
    HEAP_REQUIRE((uintptr_t)region % 8u == 0);
    (void)region; /* linked: ucHeap is the facade's region */
    region_bytes = bytes;
    vPortHeapResetState();
}

BARE_ALLOCATE(pvPortMalloc(size))

allocator_result allocator_allocate(size_t size) {
    ANSWER_IF_OK(request_judge(size, region_bytes),
                 request_answer(pvPortMalloc(size), (size + 7u) & ~(size_t)7u));
}

allocator_result allocator_allocate_aligned(size_t size, size_t alignment) {
    REFUSE_UNLESS_OK(request_judge_aligned(size, alignment, region_bytes));
    const size_t slack = alignment > 8u ? alignment - 8u : 0u;
    const uintptr_t payload = (uintptr_t)pvPortMalloc(size + slack);
    const uintptr_t aligned = (payload + alignment - 1u) & ~((uintptr_t)alignment - 1u);
    return request_answer((void *)aligned, (size + 7u) & ~(size_t)7u);
}

NO_REALLOCATION

heap_status allocator_free(void *payload) {
    return payload == NULL ? HEAP_NULL : HEAP_UNSUPPORTED;
}

size_t allocator_usable_size(const void *payload) {
    (void)payload;
    return 0;
}

size_t allocator_free_bytes(void) {
    return region_bytes == 0 ? 0 : xPortGetFreeHeapSize() - 8u;
}

size_t allocator_largest_free_block(void) {
    return allocator_free_bytes();
}

allocator_free_space allocator_read_free(void) {
    const size_t bytes = allocator_free_bytes();
    return (allocator_free_space){
        .bytes = bytes, .blocks = bytes == 0 ? 0 : 1, .smallest_block = bytes};
}

/** It has no header, and everything behind the last block is free. */
allocator_extent allocator_extent_of(const void *payload) {
    const size_t handed_out = region_bytes - allocator_overhead.heap - allocator_free_bytes();
    return (allocator_extent){.begin = (uintptr_t)payload,
                              .end = (uintptr_t)heap_region + handed_out};
}

size_t allocator_largest_free_extent(void) {
    return allocator_free_bytes();
}

/* it does not search */
NO_PROBES

/* nothing to check: one counter */
NO_CHECK

ALLOCATOR_NAME
