/**
 * TLSF, two-level segregated fit (Masmano, Ripoll, Crespo, Real: "TLSF: a new dynamic memory
 * allocator for real-time systems", ECRTS 2004). The first level divides sizes by octave, the
 * second divides each octave into 16 slots of equal width; below 128 bytes the slots are simply 8
 * bytes wide. TAILSCOPE_TLSF_OCTAVES and TAILSCOPE_TLSF_SLOTS change the counts: with s slots it is
 * 1/s where 1/16 is said below, and 8·s where 128 is. A bitmap per level says which lists hold
 * blocks, so that the next one is found by counting zeros and never by looking.
 *
 * The request is rounded up to a slot's lower bound before the search: every block of the slot then
 * fits and the head is taken. That costs at most 1/16 of the request and makes each operation a
 * constant number of steps.
 *
 * Probes: 1 if the request's own octave has a block, 2 if the search had to climb to a higher one.
 */
#include "free_list.h"
#include "index.h"
#include "tlsf_slots.h"

static heap_block *lists[OCTAVES][SLOTS];
static uint32_t octave_map;         /* bit o: octave o has a block */
static uint32_t slot_maps[OCTAVES]; /* bit s of word o: slot s of octave o has a block */

void heap_index_reset(void) {
    octave_map = 0;
    for (uint32_t octave = 0; octave < OCTAVES; octave++) {
        slot_maps[octave] = 0;
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            lists[octave][slot] = NULL;
        }
    }
}

void heap_index_insert(heap_block *block) {
    const position at = position_of(block_size(block));
    free_list_push(&lists[at.octave][at.slot], block);
    slot_maps[at.octave] |= 1u << at.slot;
    octave_map |= 1u << at.octave;
}

void heap_index_remove(heap_block *block) {
    const position at = position_of(block_size(block));
    free_list_unlink(&lists[at.octave][at.slot], block);
    if (lists[at.octave][at.slot] == NULL) {
        slot_maps[at.octave] &= ~(1u << at.slot);
        if (slot_maps[at.octave] == 0) {
            octave_map &= ~(1u << at.octave);
        }
    }
}

heap_block *heap_index_find(uint32_t size, uint32_t *probes) {
    position at = position_that_fits(size);
    if (at.octave >= OCTAVES) {
        *probes = 1;
        return NULL;
    }
    uint32_t slots = slot_maps[at.octave] & (UINT32_MAX << at.slot);
    if (slots != 0) {
        *probes = 1;
    } else {
        *probes = 2;
        const uint32_t octaves = octave_map & (UINT32_MAX << (at.octave + 1u));
        if (octaves == 0) {
            return NULL;
        }
        at.octave = lowest_bit(octaves);
        slots = slot_maps[at.octave];
    }
    return lists[at.octave][lowest_bit(slots)];
}

static bool octave_check(uint32_t octave, uint32_t *filed) {
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        const heap_block *const head = lists[octave][slot];
        const bool mapped = (slot_maps[octave] >> slot & 1u) != 0;
        const uint32_t above = smallest_size(octave, slot + 1u);
        if (mapped != (head != NULL) ||
            !free_list_check(head, smallest_size(octave, slot), above - 1u, filed)) {
            return false;
        }
    }
    return (octave_map >> octave & 1u) == (slot_maps[octave] != 0);
}

bool heap_index_check(uint32_t free_blocks) {
    uint32_t filed = 0;
    for (uint32_t octave = 0; octave < OCTAVES; octave++) {
        if (!octave_check(octave, &filed)) {
            return false;
        }
    }
    return filed == free_blocks && octave_map >> OCTAVES == 0;
}

INDEX_NAME
