/**
 * Segregated lists: one LIFO list per size class, seven classes with upper bounds 8, 16, 32 … 512
 * bytes and a catch-all. A class spans a range, so the head of the request's own class need not
 * fit: the search walks that list to the first block that does (first fit). Every block of a higher
 * class fits: there the head is taken. Worst case: as many steps as the class has free blocks,
 * which only the region's size bounds.
 *
 * Probes: one for each block looked at in the request's own class, one for each higher class looked
 * into.
 */
#include "free_list.h"
#include "index.h"

#define CLASSES 8u
#define CATCH_ALL (CLASSES - 1u)

static heap_block *lists[CLASSES];

/** Class c < 7 holds sizes above 4·2^c up to 8·2^c: c is the top bit of (size − 1) / 4. */
static uint32_t class_of(uint32_t size) {
    HEAP_REQUIRE(size > 4u); /* else no bit is set */
    const uint32_t size_class = 31u - (uint32_t)__builtin_clz((size - 1u) >> 2);
    return size_class < CATCH_ALL ? size_class : CATCH_ALL;
}

void heap_index_reset(void) {
    for (uint32_t size_class = 0; size_class < CLASSES; size_class++) {
        lists[size_class] = NULL;
    }
}

void heap_index_insert(heap_block *block) {
    free_list_push(&lists[class_of(block_size(block))], block);
}

void heap_index_remove(heap_block *block) {
    free_list_unlink(&lists[class_of(block_size(block))], block);
}

heap_block *heap_index_find(uint32_t size, uint32_t *probes) {
    const uint32_t own = class_of(size);
    uint32_t looked_at;
    heap_block *found = free_list_first_fit(lists[own], size, &looked_at);
    for (uint32_t size_class = own + 1u; found == NULL && size_class < CLASSES; size_class++) {
        looked_at++;
        found = lists[size_class];
    }
    *probes = looked_at;
    return found;
}

bool heap_index_check(uint32_t free_blocks) {
    uint32_t filed = 0;
    for (uint32_t size_class = 0; size_class < CLASSES; size_class++) {
        const uint32_t smallest =
            size_class == 0 ? BLOCK_SMALLEST_PAYLOAD : (4u << size_class) + 1u;
        const uint32_t largest = size_class == CATCH_ALL ? UINT32_MAX : 8u << size_class;
        if (!free_list_check(lists[size_class], smallest, largest, &filed)) {
            return false;
        }
    }
    return filed == free_blocks;
}

INDEX_NAME
