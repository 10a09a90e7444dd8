/** The lists of links.h on the blocks of the block layer. The indexes build on such lists. */
#pragma once

#include "block_layer.h"
#include "links.h"

_Static_assert(sizeof(free_links) <= BLOCK_SMALLEST_PAYLOAD,
               "the links must fit the smallest payload");

/**
 * The first block from the head on that holds `size` bytes, or NULL. `*looked_at` is set to how
 * many blocks the walk looked at.
 */
static inline heap_block *free_list_first_fit(heap_block *head, uint32_t size,
                                              uint32_t *looked_at) {
    uint32_t count = 0;
    heap_block *found = head;
    for (; found != NULL; found = free_list_links(found)->next) {
        count++;
        if (block_size(found) >= size) {
            break;
        }
    }
    *looked_at = count;
    return found;
}

/**
 * Walks the list and adds its length to `*filed`. False if a link or a block is unsound or a size
 * is outside smallest…largest. A ring ends the walk: where it closes, a block's `previous` is not
 * where the walk came from.
 */
bool free_list_check(const heap_block *head, uint32_t smallest, uint32_t largest, uint32_t *filed);
