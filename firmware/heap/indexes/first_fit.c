/**
 * First fit: one LIFO list of all free blocks. The first that is large enough is taken (Knuth, "The
 * Art of Computer Programming", volume 1, section 2.5). Filing takes constant time.
 *
 * Complexity: a search takes as many steps as there are free blocks. In a region of n bytes these
 * are up to n / 48: a step costs a free and a live block of 8 bytes each, and their headers.
 *
 * Probes: one for each block looked at.
 */
#include "free_list.h"
#include "index.h"

static heap_block *list;

void heap_index_reset(void) {
    list = NULL;
}

void heap_index_insert(heap_block *block) {
    free_list_push(&list, block);
}

void heap_index_remove(heap_block *block) {
    free_list_unlink(&list, block);
}

heap_block *heap_index_find(uint32_t size, uint32_t *probes) {
    return free_list_first_fit(list, size, probes);
}

bool heap_index_check(uint32_t free_blocks) {
    uint32_t filed = 0;
    return free_list_check(list, BLOCK_SMALLEST_PAYLOAD, UINT32_MAX, &filed) &&
           filed == free_blocks;
}

const char *heap_index_name(void) {
    return "first_fit";
}
