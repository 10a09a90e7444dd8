/**
 * The root of an image that holds an allocator and nothing else: the linker keeps what a reset,
 * allocate and free need. The image is measured (firmware/build/footprint.py) and never runs.
 */
#include "allocator.h"

typedef struct {
    void (*init)(void *region, size_t bytes);
    allocator_result (*allocate)(size_t size);
    heap_status (*free)(void *payload);
    const allocator_overhead_bytes *overhead;
} footprint_roots;

const footprint_roots footprint __attribute__((section(".footprint"))) = {
    .init = allocator_init,
    .allocate = allocator_allocate,
    .free = allocator_free,
    .overhead = &allocator_overhead,
};
