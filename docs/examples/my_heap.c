/* First fit on a list in order of address. Free neighbours merge. */
#define PLAIN_TELLS_USABLE
#include "plain.h"

typedef struct cell {
    struct cell *next; /* of a free cell */
    size_t size;       /* header included, a multiple of 8 */
} cell;

static cell *first;

static void plain_init(void *region, size_t bytes) {
    first = region;
    first->next = NULL;
    first->size = bytes & ~(size_t)7;
}

static void *plain_allocate(size_t size) {
    if (size > SIZE_MAX - sizeof(cell) - 7u) {
        return NULL; /* the sum below would overflow */
    }
    const size_t wanted = (size + sizeof(cell) + 7u) & ~(size_t)7u;
    cell **link = &first;
    while (*link != NULL && (*link)->size < wanted) {
        link = &(*link)->next;
    }
    cell *const found = *link;
    if (found == NULL) {
        return NULL;
    }
    if (found->size - wanted >= sizeof(cell) + 8u) {
        cell *const rest = (cell *)((char *)found + wanted);
        rest->next = found->next;
        rest->size = found->size - wanted;
        found->size = wanted;
        *link = rest;
    } else {
        *link = found->next;
    }
    return found + 1;
}

static void merge(cell *one) {
    if (one != NULL && (char *)one + one->size == (char *)one->next) {
        one->size += one->next->size;
        one->next = one->next->next;
    }
}

static void plain_free(void *payload) {
    cell *const freed = (cell *)payload - 1;
    cell *before = NULL;
    cell *behind = first;
    while (behind != NULL && behind < freed) {
        before = behind;
        behind = behind->next;
    }
    freed->next = behind;
    *(before == NULL ? &first : &before->next) = freed;
    merge(freed);
    merge(before);
}

static size_t plain_usable_bytes(const void *payload) {
    return ((const cell *)payload - 1)->size - sizeof(cell);
}
