/**
 * newlib's malloc in its nano variant as shipped: one list of free chunks in order of address,
 * first fit. Neighbours are merged, and what fits nowhere comes from sbrk. Compiled by Debian
 * (libnewlib-arm-none-eabi 3.3.0, libc_nano.a; licence: BSD), so it runs on the target only.
 *
 * It aligns to 8, and to more by its _memalign_r(). What it cannot tell is counted beside it, or
 * read off its list.
 */
#include "allocator.h"
#include "allocators/newlib/sbrk.h"

/* A chunk, as in nano-mallocr.c. Its size includes header and padding. */
typedef struct chunk {
    long size;
    struct chunk *next;
} chunk;

extern chunk *__malloc_free_list;
extern char *__malloc_sbrk_start;

/* Its size, and 4 bytes that move the payload to a multiple of 8, or else lie behind it. */
#define OVERHEAD_BYTES 8u

const allocator_overhead_bytes allocator_overhead = {.heap = 0, .block = 4, .smallest_block = 12};

void newlib_reset(void) {
    __malloc_free_list = NULL;
    __malloc_sbrk_start = NULL;
}

static size_t payload_of(size_t bytes) {
    return bytes > OVERHEAD_BYTES ? bytes - OVERHEAD_BYTES : 0;
}

static void count(allocator_free_space *space, size_t payload) {
    if (payload != 0) {
        free_space_add(space, payload);
    }
}

/** What sbrk can still give counts as one block. */
allocator_free_space allocator_read_free(void) {
    allocator_free_space space = {0};
    for (const chunk *at = __malloc_free_list; at != NULL; at = at->next) {
        count(&space, payload_of((size_t)at->size));
    }
    count(&space, payload_of(newlib_sbrk_rest_bytes()));
    return space;
}

size_t allocator_largest_free_block(void) {
    size_t largest = newlib_sbrk_rest_bytes() & ~(size_t)3u;
    for (const chunk *at = __malloc_free_list; at != NULL; at = at->next) {
        largest = (size_t)at->size > largest ? (size_t)at->size : largest;
    }
    return payload_of(largest);
}

/** The list is in order of address, and no chunk reaches into the next. */
bool allocator_check(void) {
    for (const chunk *at = __malloc_free_list; at != NULL; at = at->next) {
        const bool ends_before_next =
            at->next == NULL || (uintptr_t)at + (size_t)at->size < (uintptr_t)at->next;
        if (at->size <= 0 || !ends_before_next) {
            return false;
        }
    }
    return true;
}

ALLOCATOR_NAME
