/* Blocks of one size, the free ones in a list. Nothing is searched. */
#include "plain.h"

#define BLOCK_BYTES 256u

typedef struct cell {
    struct cell *next;
} cell;

static cell *first;

static void plain_free(void *payload) {
    cell *const freed = payload;
    freed->next = first;
    first = freed;
}

static void plain_init(void *region, size_t bytes) {
    first = NULL;
    for (size_t left = bytes / BLOCK_BYTES; left > 0; left--) {
        plain_free((char *)region + (left - 1) * BLOCK_BYTES);
    }
}

static void *plain_allocate(size_t size) {
    cell *const found = size <= BLOCK_BYTES ? first : NULL;
    if (found != NULL) {
        first = found->next;
    }
    return found;
}
