/**
 * The block layer's format. Blocks tile the region without gaps. Each is a header of 16 bytes and a
 * payload; with a knob, of 8 or 4 bytes (block_header_short.h). The indexes see free blocks only
 * through this file.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "require.h"

/** Payloads, and so headers, lie on multiples of this; sizes of whole blocks are multiples of it.
 */
#define BLOCK_ALIGNMENT 8u

#ifndef TAILSCOPE_HDR /* a knob that some indexes have (build.cmake) */
#define TAILSCOPE_HDR 16u
#endif
#define BLOCK_HEADER_BYTES TAILSCOPE_HDR

typedef struct heap_block heap_block;

#if BLOCK_HEADER_BYTES == 16u
#include "block_header_full.h"
#else
#include "block_header_short.h"
#endif

/** The payload of a free block must hold its index's two links or node of a tree. */
#define BLOCK_SMALLEST_PAYLOAD ((uint32_t)TAILSCOPE_SMALLEST_PAYLOAD + BLOCK_SHARED_BYTES)
_Static_assert(BLOCK_SMALLEST_PAYLOAD >= BLOCK_ALIGNMENT &&
                   (BLOCK_HEADER_BYTES + BLOCK_SMALLEST_PAYLOAD) % BLOCK_ALIGNMENT == 0,
               "the smallest payload (CMakeLists.txt) must be a multiple of 8");

static inline void *block_payload(const heap_block *block) {
    return (uint8_t *)(uintptr_t)block + sizeof(heap_block);
}

/**
 * True if a header could lie at `address`: inside the region and aligned. Nothing is read there.
 */
bool block_address_is_possible(const void *address);
