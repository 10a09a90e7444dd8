/**
 * The two levels of TLSF: which slot a size belongs to, and from which slot on every block holds a
 * request. Sizes are multiples of 8. Octave 0 is linear, one slot for each size; each octave above
 * has TAILSCOPE_TLSF_SLOTS slots of equal width.
 */
#pragma once

#include <stdint.h>

#define OCTAVES ((uint32_t)TAILSCOPE_TLSF_OCTAVES)
#define SLOTS ((uint32_t)TAILSCOPE_TLSF_SLOTS)
#define SLOT_BITS ((uint32_t)__builtin_ctz(SLOTS))
#define LINEAR_SLOT_BITS 3u
/* Octave 0 is linear: with 16 slots, sizes below 2^7. */
#define LINEAR_BITS (SLOT_BITS + LINEAR_SLOT_BITS)
#define LINEAR_LIMIT (1u << LINEAR_BITS)
#define SIZE_LIMIT_BITS (LINEAR_BITS + OCTAVES - 1u)

_Static_assert(SLOTS >= 2u && SLOTS <= 32u && (SLOTS & (SLOTS - 1u)) == 0,
               "TAILSCOPE_TLSF_SLOTS must be 2, 4, 8, 16 or 32: a slot is a bit of a word");
_Static_assert(OCTAVES >= 2u && OCTAVES <= 31u && SIZE_LIMIT_BITS <= 31u,
               "TAILSCOPE_TLSF_OCTAVES must be at least 2, and the largest size below 2^31");
_Static_assert(TAILSCOPE_HEAP_BYTES <= 1u << SIZE_LIMIT_BITS,
               "so few octaves do not file the region: make TAILSCOPE_TLSF_OCTAVES larger");

typedef struct {
    uint32_t octave;
    uint32_t slot;
} position;

static inline uint32_t top_bit(uint32_t word) {
    return 31u - (uint32_t)__builtin_clz(word);
}

static inline uint32_t lowest_bit(uint32_t word) {
    return (uint32_t)__builtin_ctz(word);
}

/**
 * The top bit of a size, or for octave 0 that of the first size above it: the slots of octave 0 are
 * as wide as those of octave 1. So one formula serves all octaves without a branch.
 */
static inline uint32_t octave_bit(uint32_t size) {
    return top_bit(size | LINEAR_LIMIT);
}

/** The slot whose range holds `size`. */
static inline position position_of(uint32_t size) {
    const uint32_t top = octave_bit(size);
    return (position){
        .octave = top - LINEAR_BITS + (size >> top),
        .slot = size >> (top - SLOT_BITS) & (SLOTS - 1u),
    };
}

/**
 * The first slot of which every block holds `size`: that of the size rounded up to a slot's width.
 */
static inline position position_that_fits(uint32_t size) {
    return position_of(size + (1u << (octave_bit(size) - SLOT_BITS)) - 1u);
}

/** Smallest size that belongs to the slot; that of the slot behind it is the bound above. */
static inline uint32_t smallest_size(uint32_t octave, uint32_t slot) {
    return octave == 0 ? slot << LINEAR_SLOT_BITS
                       : (SLOTS + slot) << (octave + LINEAR_SLOT_BITS - 1u);
}
