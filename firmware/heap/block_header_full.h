/**
 * The header of the block layer: four words. Both neighbours are known at any time, and a damaged
 * header is recognised. Only block_layer.h includes this, and only block_layer.c calls what begins
 * with format_.
 */
#pragma once

#include <stddef.h>

/* A header that was merged into its neighbour keeps a mark of its own. So a second free of it is
 * told from a free of something that never was a block. */
#define BLOCK_MAGIC 0x4B4C4254u        /* "TBLK" */
#define BLOCK_MAGIC_MERGED 0x47524D54u /* "TMRG" */

/* Whole words instead of 0 and 1, so that an overwritten header is recognised. */
#define BLOCK_FREE 0x45455246u /* "FREE" */
#define BLOCK_LIVE 0x4556494Cu /* "LIVE" */

struct heap_block {
    uint32_t magic;
    uint32_t size;    /**< payload bytes */
    uint32_t status;  /**< BLOCK_FREE or BLOCK_LIVE */
    heap_block *prev; /**< the block that ends where this one begins; NULL for the region's first */
};

_Static_assert(sizeof(heap_block) == BLOCK_HEADER_BYTES,
               "the block layer is for 32-bit machines; on a PC compile with -m32");

/** Of a block's payload: what lies in the header of the block behind. */
#define BLOCK_SHARED_BYTES 0u

/** What no block can use of the region. */
#define BLOCK_REGION_OVERHEAD_BYTES 0u

/* What reads and sets fields is a macro: the compiler then makes the code that the fields
 * themselves would make, and the critical sections stay as they were measured. */

/** Payload bytes. */
#define block_size(block) ((block)->size)

#define block_is_free(block) ((block)->status == BLOCK_FREE)

#define block_is_live(block) ((block)->status == BLOCK_LIVE)

/** True if a header lies here that was not merged away. */
#define block_has_header(block) ((block)->magic == BLOCK_MAGIC)

static inline bool block_was_merged(const heap_block *block) {
    return block->magic == BLOCK_MAGIC_MERGED;
}

/** Writes a header of unknown status behind the block `before`. */
static inline void format_write(heap_block *block, uint32_t size, heap_block *before) {
    block->magic = BLOCK_MAGIC;
    block->size = size;
    block->prev = before;
}

static inline void format_resize(heap_block *block, uint32_t size) {
    block->size = size;
}

/** Tells `after` that `block`, not filed so far, ends where it begins. */
static inline void format_follow(heap_block *after, heap_block *block) {
    after->prev = block;
}

/** Makes `block` free; `after` lies behind it, or is NULL. */
#define format_set_free(block, after) ((block)->status = BLOCK_FREE)

#define format_set_live(block, after) ((block)->status = BLOCK_LIVE)

static inline void format_set_merged(heap_block *block) {
    block->magic = BLOCK_MAGIC_MERGED;
}

/** The block before, as far as the header tells it; NULL for the region's first. */
#define format_before(block) ((block)->prev)

/** True if it is right that a header names no block before. */
#define format_says_none_before(block, first) ((block) == (first))

/** True if a header can say that `before` lies before it. */
static inline bool format_can_be_before(const heap_block *before) {
    (void)before;
    return true;
}

/** True if the header of `after` says that `block` lies before it. */
#define format_follows(after, block) ((after)->prev == (block))
