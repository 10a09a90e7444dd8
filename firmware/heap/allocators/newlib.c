/**
 * newlib's malloc as shipped: D. Lea's 2.6.5, lists by size, best fit among large ones, and a top
 * that grows by sbrk. Compiled by Debian (libnewlib-arm-none-eabi 3.3.0, libc.a; licence: public
 * domain), so it runs on the target only.
 *
 * It aligns to 8, and to more by its _memalign_r(). From the second request on it takes pages of
 * 4,096 bytes from sbrk, so at the region's end a part of a page stays unused. What it cannot tell
 * is counted beside it, or read off its chunks.
 */
#include "allocators/lea/chunks.h"
#include "allocators/newlib/sbrk.h"

/* Its state, which has external names but no header (mallocr.c): two words, then two links for each
 * of 128 lists, of which the first list's first link is the top; and where sbrk began. */
extern void *__malloc_av_[258];
extern char *__malloc_sbrk_base;
extern int __malloc_current_mallinfo[10];

#define LISTS 128u
#define PAGE_BYTES 4096u
#define NOT_BEGUN ((char *)-1)

/* A top that holds nothing but itself. */
const allocator_overhead_bytes allocator_overhead = {
    .heap = LEA_SMALLEST_CHUNK,
    .block = LEA_HEADER_BYTES,
    .smallest_block = LEA_SMALLEST_CHUNK,
};

void newlib_reset(void) {
    __malloc_av_[0] = __malloc_av_[1] = NULL;
    for (size_t list = 0; list < LISTS; list++) {
        __malloc_av_[2 * list + 2] = __malloc_av_[2 * list + 3] = &__malloc_av_[2 * list];
    }
    __malloc_sbrk_base = NOT_BEGUN;
    __malloc_current_mallinfo[0] = 0; /* bytes taken from sbrk */
}

static const lea_chunk *top(void) {
    return __malloc_av_[2];
}

static bool has_begun(void) {
    return __malloc_sbrk_base != NOT_BEGUN;
}

static lea_survey look_around(void) {
    return has_begun() ? lea_look_around((const void *)__malloc_sbrk_base, top())
                       : (lea_survey){.sound = true};
}

/** The top and what sbrk can still give count as one block. */
allocator_free_space allocator_read_free(void) {
    lea_survey found = look_around();
    const size_t last = newlib_sbrk_rest_bytes() + (has_begun() ? lea_chunk_bytes(top()) : 0);
    if (last > LEA_HEADER_BYTES) {
        lea_count_free(&found, last - LEA_HEADER_BYTES);
    }
    return found.free;
}

/** The payload of a chunk that leaves 16 of `bytes` bytes. */
static size_t payload_within(size_t bytes) {
    return bytes >= 2u * LEA_SMALLEST_CHUNK ? bytes - LEA_SMALLEST_CHUNK - LEA_HEADER_BYTES : 0;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/**
 * A request is served from a free chunk, from the top, or from what sbrk gives, which it asks for
 * without counting on the top.
 */
size_t allocator_largest_free_block(void) {
    const size_t rest = newlib_sbrk_rest_bytes();
    if (!has_begun()) {
        return payload_within(rest);
    }
    const size_t from_top = payload_within(lea_chunk_bytes(top()));
    return larger(look_around().largest,
                  larger(from_top, payload_within(rest - rest % PAGE_BYTES)));
}

bool allocator_check(void) {
    return look_around().sound;
}

ALLOCATOR_NAME
