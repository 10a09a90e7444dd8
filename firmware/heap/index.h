/**
 * Contract of a free-block index: where free blocks are filed and how one is found. Exactly one is
 * linked, chosen by TAILSCOPE_ALLOCATOR from heap/indexes. The block layer is its only caller. How
 * long each function takes at most, the index says in its first comment.
 */
#pragma once

#include "block_layer.h"

/** Empties the index. */
void heap_index_reset(void);

/**
 * Files a free block by its size, which is not filed yet. The index owns the block's payload until
 * it is removed.
 */
void heap_index_insert(heap_block *block);

/** Takes out a filed block; its size must not have changed since it was filed. */
void heap_index_remove(heap_block *block);

/**
 * A filed block of at least `size` bytes (a multiple of 8, at least BLOCK_SMALLEST_PAYLOAD), or
 * NULL. It stays filed. A request for fewer bytes never fails where a larger one succeeds.
 * `*probes` is set to what the search looked at, in vain or not; each index says what it counts.
 */
heap_block *heap_index_find(uint32_t size, uint32_t *probes);

/**
 * True if exactly `free_blocks` blocks are filed, each is free and where its size belongs, and
 * every link and bitmap agrees. Safe on a damaged index.
 */
bool heap_index_check(uint32_t free_blocks);

/** Name of the index, e.g. "tlsf". */
const char *heap_index_name(void);

/** Defines it as the build calls the index: its file's name (CMakeLists.txt). */
#define INDEX_NAME \
    const char *heap_index_name(void) { \
        return TAILSCOPE_FILE_NAME; \
    }
