/**
 * The C side of this package: one Rust allocator over one region. A feature of Cargo.toml chooses
 * it. No two of these functions run at once.
 */
#pragma once

#include "allocator.h"

/** A payload and what it can hold; NULL and 0 where there is none. */
typedef struct {
    void *payload;
    size_t usable_bytes;
} rust_heap_block;

/** Takes over `bytes` bytes at `region`, 16-byte aligned; the heap before this one is forgotten. */
void rust_heap_init(void *region, size_t bytes);

/** `size` is not 0; `alignment` is a power of two of at least 8. */
rust_heap_block rust_heap_allocate(size_t size, size_t alignment);

/**
 * Makes a live payload hold `size` bytes, not 0, here or elsewhere. No payload: it stays as it was.
 */
rust_heap_block rust_heap_reallocate(void *payload, size_t size);

/** True if the crate has a reallocation of its own. */
bool rust_heap_reallocates(void);

/** Frees a live payload and returns what it could hold. */
size_t rust_heap_free(void *payload);

/** What a live payload can hold. */
size_t rust_heap_usable_bytes(const void *payload);

/** Walks the region; zeros where the crate shows nobody its blocks. */
void rust_heap_read_free(allocator_free_space *space);

/** Payload of the largest free block; 0 also where the crate shows nobody its blocks. Walks. */
size_t rust_heap_largest_free(void);

/** Where the block of a live payload begins. */
const void *rust_heap_block_begin(const void *payload);

/** Called where the crate panics: it found its heap damaged. */
_Noreturn void rust_heap_panic(void);
