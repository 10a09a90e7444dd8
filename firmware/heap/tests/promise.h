/**
 * What each index promises, as heap/README.md publishes it: the tests hold the heap to this and
 * take nothing from the code under test. An index that is not in promise.c fails every suite.
 */
#ifndef TAILSCOPE_HEAP_TESTS_PROMISE_H
#define TAILSCOPE_HEAP_TESTS_PROMISE_H

#include <stdbool.h>
#include <stddef.h>

/** Which of the blocks that are large enough a search is sure to find. */
typedef enum {
    FINDS_WHAT_FITS,       /**< every one */
    FINDS_SLOTS,           /**< those that the request rounded up to a slot of TLSF fits */
    FINDS_POWERS,          /**< those that the request rounded up to a power of two fits */
    FINDS_UP_TO_THRESHOLD, /**< those too, and the first few of the request's own bin */
} promise_finds;

typedef struct {
    const char *name;
    promise_finds finds;
    size_t smallest_payload;
    bool by_address; /**< equal blocks are given in order of address, otherwise last in first out */
    bool tree;       /**< links are followed by two subtrees */
} promise;

/** The promise of the index under test. */
const promise *promised(void);

/** Bytes of a block's header. */
size_t promised_header(void);

/** Bytes of the region before the first header, and as many behind the last block. */
size_t promised_margin(void);

/** The payload of the only block of a fresh heap. */
size_t promised_whole(void);

/** How many slots of equal width TLSF divides an octave into. */
size_t promised_slots(void);

/** How many blocks Half Fit with a threshold looks at in a request's own bin; 0 is all of them. */
unsigned promised_threshold(void);

/** The payload that a request for `size` bytes gets. */
size_t promised_payload(size_t size);

#endif
