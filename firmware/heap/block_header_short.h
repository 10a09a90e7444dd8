/**
 * A header of one word: the size of the whole block, a mark, and bits. Only a free block is known
 * from behind: the word right before the header of the block behind says where it begins (D. E.
 * Knuth's boundary tags, in the layout of D. Lea's malloc).
 *
 *      4 bytes: live                      free
 *     +--------------+-------------+     +--------------+------+----------+-----+--------+
 *     | size, bits   | payload     |     | size, bits   | next | previous |     | before | size, …
 *     +--------------+-------------+     +--------------+------+----------+-----+--------+
 *                                                                                of the block
 * behind
 *
 * With 4 bytes that word is payload while its block is live. With 8 bytes it belongs to the header
 * that it stands before. Only block_layer.h includes this, and only block_layer.c calls what begins
 * with format_, described in block_header_full.h.
 */
#pragma once

#include <stddef.h>

_Static_assert(BLOCK_HEADER_BYTES == 4u || BLOCK_HEADER_BYTES == 8u, "TAILSCOPE_HDR is 4, 8 or 16");
_Static_assert(TAILSCOPE_HEAP_BYTES < 1u << 24, "sizes have 24 bits");

struct heap_block {
    heap_block *before; /**< only if the bit says so: the free block that ends here */
    uint32_t word;      /**< mark, size of the whole block, bits */
};

#define BLOCK_BIT_FREE 1u
#define BLOCK_BIT_BEFORE 2u /* the block before is free: `before` is valid */
#define BLOCK_BIT_MERGED 4u /* no block any more */
#define BLOCK_SIZE_MASK 0x00FFFFF8u
#define BLOCK_MARK_MASK 0xFF000000u
#define BLOCK_MARK 0x54000000u /* "T" */

/* With 4 bytes the first word of the first header and the last word of the region are nobody's. */
#define BLOCK_SHARED_BYTES (BLOCK_HEADER_BYTES == 4u ? 4u : 0u)
#define BLOCK_REGION_OVERHEAD_BYTES (2u * BLOCK_SHARED_BYTES)

static inline uint32_t block_size(const heap_block *block) {
    return (block->word & BLOCK_SIZE_MASK) - BLOCK_HEADER_BYTES;
}

static inline bool block_is_free(const heap_block *block) {
    return (block->word & BLOCK_BIT_FREE) != 0;
}

static inline bool block_is_live(const heap_block *block) {
    return !block_is_free(block);
}

static inline bool block_has_header(const heap_block *block) {
    return (block->word & (BLOCK_MARK_MASK | BLOCK_BIT_MERGED)) == BLOCK_MARK;
}

static inline bool block_was_merged(const heap_block *block) {
    return (block->word & (BLOCK_MARK_MASK | BLOCK_BIT_MERGED)) == (BLOCK_MARK | BLOCK_BIT_MERGED);
}

static inline void format_write(heap_block *block, uint32_t size, heap_block *before) {
    (void)before; /* which is no free block */
    block->word = BLOCK_MARK | (size + BLOCK_HEADER_BYTES);
}

static inline void format_resize(heap_block *block, uint32_t size) {
    block->word = (block->word & ~BLOCK_SIZE_MASK) | (size + BLOCK_HEADER_BYTES);
}

static inline void format_follow(heap_block *after, heap_block *block) {
    (void)block;
    after->word &= ~BLOCK_BIT_BEFORE;
}

static inline void format_set_free(heap_block *block, heap_block *after) {
    block->word |= BLOCK_BIT_FREE;
    if (after != NULL) {
        after->before = block;
        after->word |= BLOCK_BIT_BEFORE;
    }
}

static inline void format_set_live(heap_block *block, heap_block *after) {
    block->word &= ~BLOCK_BIT_FREE;
    if (after != NULL) {
        after->word &= ~BLOCK_BIT_BEFORE;
    }
}

static inline void format_set_merged(heap_block *block) {
    block->word |= BLOCK_BIT_MERGED;
}

static inline heap_block *format_before(const heap_block *block) {
    return (block->word & BLOCK_BIT_BEFORE) != 0 ? block->before : NULL;
}

static inline bool format_says_none_before(const heap_block *block, const heap_block *first) {
    (void)first;
    return (block->word & BLOCK_BIT_BEFORE) == 0;
}

static inline bool format_can_be_before(const heap_block *before) {
    return block_is_free(before);
}

static inline bool format_follows(const heap_block *after, const heap_block *block) {
    const bool says_free = (after->word & BLOCK_BIT_BEFORE) != 0;
    return says_free == block_is_free(block) && (!says_free || after->before == block);
}
