/**
 * An allocator that does nothing: what its operations cost, the bench costs. That is the call, the
 * lock, the marks and the book-keeping around any allocator's own work.
 */
#include "plain.h"

static void *only;

static void plain_init(void *region, size_t bytes) {
    (void)bytes;
    only = region;
}

static void *plain_allocate(size_t size) {
    (void)size;
    return only;
}

static void plain_free(void *payload) {
    (void)payload;
}
