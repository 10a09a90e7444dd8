/**
 * A doubly linked LIFO list of free blocks, threaded through their payloads: push and unlink take
 * constant time. The indexes build on such lists.
 */
#pragma once

#include "block_layer.h"

/** What the payload of a filed block holds. */
typedef struct {
    heap_block *next;
    heap_block *previous; /**< NULL for the head */
} free_links;

_Static_assert(sizeof(free_links) <= BLOCK_SMALLEST_PAYLOAD,
               "the links must fit the smallest payload");

static inline free_links *free_list_links(const heap_block *block) {
    return block_payload(block);
}

static inline void free_list_push(heap_block **head, heap_block *block) {
    heap_block *const second = *head;
    *free_list_links(block) = (free_links){.next = second, .previous = NULL};
    if (second != NULL) {
        free_list_links(second)->previous = block;
    }
    *head = block;
}

static inline void free_list_unlink(heap_block **head, heap_block *block) {
    const free_links links = *free_list_links(block);
    HEAP_REQUIRE(links.previous == NULL ? *head == block
                                        : free_list_links(links.previous)->next == block);
    HEAP_REQUIRE(links.next == NULL || free_list_links(links.next)->previous == block);
    if (links.previous != NULL) {
        free_list_links(links.previous)->next = links.next;
    } else {
        *head = links.next;
    }
    if (links.next != NULL) {
        free_list_links(links.next)->previous = links.previous;
    }
}

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
