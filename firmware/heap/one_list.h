/**
 * What the indexes have in common that keep all free blocks in one list. Each includes this once,
 * and defines the search and the check. The list is last in, first out; with ONE_LIST_IN_ORDER the
 * index also defines how blocks are filed and taken out.
 */
#pragma once

#include "free_list.h"
#include "index.h"

static heap_block *list;

void heap_index_reset(void) {
    list = NULL;
}

#ifndef ONE_LIST_IN_ORDER
void heap_index_insert(heap_block *block) {
    free_list_push(&list, block);
}

void heap_index_remove(heap_block *block) {
    free_list_unlink(&list, block);
}
#endif

/** What heap_index_check() asks of the list, whatever its order. */
static inline bool one_list_check(uint32_t free_blocks) {
    uint32_t filed = 0;
    return free_list_check(list, BLOCK_SMALLEST_PAYLOAD, UINT32_MAX, &filed) &&
           filed == free_blocks;
}
