#include "free_list.h"

static bool is_sound(const heap_block *block, uint32_t smallest, uint32_t largest) {
    return block_address_is_possible(block) && block_has_header(block) && block_is_free(block) &&
           block_size(block) >= smallest && block_size(block) <= largest;
}

bool free_list_check(const heap_block *head, uint32_t smallest, uint32_t largest, uint32_t *filed) {
    const heap_block *previous = NULL;
    for (const heap_block *block = head; block != NULL; block = free_list_links(block)->next) {
        if (!is_sound(block, smallest, largest) || free_list_links(block)->previous != previous) {
            return false;
        }
        *filed += 1;
        previous = block;
    }
    return true;
}
