/**
 * Address-ordered first fit: one list of all free blocks in the order in which they lie. The first
 * that is large enough is taken. The region fills from its beginning, and large blocks survive at
 * its end.
 *
 * Complexity: the price of the order is that filing walks too, to the block's place, at each free
 * and each split. Searching and filing both take as many steps as there are free blocks. In a
 * region of n bytes these are up to n / 48: a step costs a free and a live block of 8 bytes each,
 * and their headers.
 *
 * Probes: one for each block that the search looks at. The walk that files is not counted. It shows
 * in the length of the critical section, above all of frees.
 */
#define ONE_LIST_IN_ORDER
#include "one_list.h"

void heap_index_insert(heap_block *block) {
    heap_block *before = NULL;
    heap_block *behind = list;
    while (behind != NULL && behind < block) {
        before = behind;
        behind = free_list_links(behind)->next;
    }
    *free_list_links(block) = (free_links){.next = behind, .previous = before};
    if (before != NULL) {
        free_list_links(before)->next = block;
    } else {
        list = block;
    }
    if (behind != NULL) {
        free_list_links(behind)->previous = block;
    }
}

void heap_index_remove(heap_block *block) {
    free_list_unlink(&list, block);
}

heap_block *heap_index_find(uint32_t size, uint32_t *probes) {
    return free_list_first_fit(list, size, probes);
}

bool heap_index_check(uint32_t free_blocks) {
    if (!one_list_check(free_blocks)) {
        return false;
    }
    for (const heap_block *block = list; block != NULL; block = free_list_links(block)->next) {
        const heap_block *const next = free_list_links(block)->next;
        if (next != NULL && next <= block) {
            return false;
        }
    }
    return true;
}

INDEX_NAME
