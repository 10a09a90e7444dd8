/**
 * Best fit: one LIFO list of all free blocks. The smallest that is large enough is taken; of equal
 * ones the newest. A block of exactly the requested size ends the search, since none is better.
 * Filing takes constant time.
 *
 * Complexity: a search takes as many steps as there are free blocks, unless one fits exactly. In a
 * region of n bytes these are up to n / 48: a step costs a free and a live block of 8 bytes each,
 * and their headers.
 *
 * Probes: one for each block looked at.
 */
#include "one_list.h"

heap_block *heap_index_find(uint32_t size, uint32_t *probes) {
    uint32_t looked_at = 0;
    heap_block *best = NULL;
    for (heap_block *block = list; block != NULL; block = free_list_links(block)->next) {
        looked_at++;
        if (block_size(block) >= size && (best == NULL || block_size(block) < block_size(best))) {
            best = block;
            if (block_size(best) == size) {
                break;
            }
        }
    }
    *probes = looked_at;
    return best;
}

bool heap_index_check(uint32_t free_blocks) {
    return one_list_check(free_blocks);
}

INDEX_NAME
