/**
 * A doubly linked LIFO list of free blocks, threaded through their payloads: push and unlink take
 * constant time. Whoever includes this has declared heap_block and block_payload().
 */
#pragma once

#include "require.h"

/** What the payload of a filed block holds. */
typedef struct {
    heap_block *next;
    heap_block *previous; /**< NULL for the head */
} free_links;

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
