/**
 * The root of an image that holds an allocator and nothing else: the linker keeps what a reset,
 * allocate and free need. The image is measured (firmware/build/footprint.py) and never runs.
 */
#include "allocator.h"

const void *const footprint[] __attribute__((section(".footprint"))) = {
    allocator_init, allocator_allocate, allocator_free, &allocator_overhead};
