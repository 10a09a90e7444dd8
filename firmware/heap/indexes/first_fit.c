/**
 * First fit: one LIFO list of all free blocks. The first that is large enough is taken (Knuth, "The
 * Art of Computer Programming", volume 1, section 2.5). Filing takes constant time.
 *
 * Complexity: a search takes as many steps as there are free blocks. In a region of n bytes these
 * are up to n / 48: a step costs a free and a live block of 8 bytes each, and their headers.
 *
 * Probes: one for each block looked at.
 */
#include "one_list.h"

heap_block *heap_index_find(uint32_t size, uint32_t *probes) {
    return free_list_first_fit(list, size, probes);
}

bool heap_index_check(uint32_t free_blocks) {
    return one_list_check(free_blocks);
}

INDEX_NAME
