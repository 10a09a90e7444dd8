/**
 * The block layer's format. Blocks tile the region without gaps. Each is a header of 16 bytes and a
 * payload of `size` bytes. The indexes see free blocks only through this file.
 */
#ifndef TAILSCOPE_HEAP_BLOCK_LAYER_H
#define TAILSCOPE_HEAP_BLOCK_LAYER_H

#include <stdbool.h>
#include <stdint.h>

/** Payloads, and so headers, lie on multiples of this; sizes are multiples of it. */
#define BLOCK_ALIGNMENT 8u

/** The payload of a free block must hold its index's two links or node of a tree. */
#define BLOCK_SMALLEST_PAYLOAD ((uint32_t)TAILSCOPE_SMALLEST_PAYLOAD)
_Static_assert(BLOCK_SMALLEST_PAYLOAD >= BLOCK_ALIGNMENT &&
                   BLOCK_SMALLEST_PAYLOAD % BLOCK_ALIGNMENT == 0,
               "the smallest payload (CMakeLists.txt) must be a multiple of 8");

/* A header that was merged into its neighbour keeps a mark of its own. So a second free of it is
 * told from a free of something that never was a block. */
#define BLOCK_MAGIC 0x4B4C4254u        /* "TBLK" */
#define BLOCK_MAGIC_MERGED 0x47524D54u /* "TMRG" */

/* Whole words instead of 0 and 1, so that an overwritten header is recognised. */
#define BLOCK_FREE 0x45455246u /* "FREE" */
#define BLOCK_LIVE 0x4556494Cu /* "LIVE" */

typedef struct heap_block heap_block;

struct heap_block {
    uint32_t magic;
    uint32_t size;    /**< payload bytes */
    uint32_t status;  /**< BLOCK_FREE or BLOCK_LIVE */
    heap_block *prev; /**< the block that ends where this one begins; NULL for the region's first */
};

#define BLOCK_HEADER_BYTES 16u
_Static_assert(sizeof(heap_block) == BLOCK_HEADER_BYTES,
               "the block layer is for 32-bit machines; on a PC compile with -m32");

static inline void *block_payload(const heap_block *block) {
    return (uint8_t *)(uintptr_t)block + BLOCK_HEADER_BYTES;
}

/**
 * True if a header could lie at `address`: inside the region and aligned. Nothing is read there.
 */
bool block_address_is_possible(const void *address);

#endif
