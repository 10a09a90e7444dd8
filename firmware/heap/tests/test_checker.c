/* The invariant checker, against damage planted one word at a time: it must see each, and nothing
 * else. */
#include "bench.h"
#include "index.h"

/*
 * 0 live, 1 free, 2 live, 3 free, 4 live: blocks 1 and 3 are on one free list, one behind the
 * other. A larger one was freed before them, so that neither is a designated victim.
 */
static void *block[5];

static void build(void) {
    heap_reset();
    for (int i = 0; i < 5; i++) {
        block[i] = heap_allocate(40);
    }
    void *const larger = heap_allocate(400);
    (void)heap_allocate(8);
    heap_free(larger);
    heap_free(block[1]);
    heap_free(block[3]);
    CHECK(heap_check());
}

static void is_seen(uint32_t *word, uint32_t damaged) {
    const uint32_t sound = *word;
    CHECK(sound != damaged);
    *word = damaged;
    CHECK(!heap_check());
    *word = sound;
    CHECK(heap_check());
}

static uint32_t address_of(void *object) {
    return (uint32_t)(uintptr_t)object;
}

static void damaged_headers(void) {
    for (int i = 0; i < 5; i++) {
        heap_block *const header = header_before(block[i]);
        uint32_t *const prev = (uint32_t *)(void *)&header->prev;
        is_seen(&header->magic, 0);
        is_seen(&header->size, 0);
        is_seen(&header->size, 32);
        is_seen(&header->size, 44);
        is_seen(&header->size, 48);
        is_seen(&header->size, UINT32_MAX);
        is_seen(&header->status, 0);
        is_seen(prev, address_of(header));
        is_seen(prev, address_of(header) + 4);
        is_seen(prev, 8);
    }
}

/**
 * Each header is sound by itself, and the heap is not: two free neighbours, or a free block that is
 * not filed.
 */
static void damaged_status(void) {
    is_seen(&header_before(block[2])->status, BLOCK_FREE);
    is_seen(&header_before(block[0])->status, BLOCK_FREE);
    is_seen(&header_before(block[1])->status, BLOCK_LIVE);
    is_seen(&header_before(block[3])->status, BLOCK_LIVE);
}

/** A filed block's payload begins with the links: next, previous. */
static void damaged_links(void) {
    uint32_t *const head = block[promised()->by_address ? 1 : 3];
    uint32_t *const tail = block[promised()->by_address ? 3 : 1];
    CHECK_EQUAL(head[0], address_of(header_before(tail)));
    CHECK_EQUAL(head[1], 0);
    CHECK_EQUAL(tail[1], address_of(header_before(head)));
    is_seen(&head[0], 0);                                   /* a block is lost */
    is_seen(&head[0], address_of(head) - HEADER_BYTES);     /* a ring */
    is_seen(&tail[0], address_of(head) - HEADER_BYTES);     /* a longer ring */
    is_seen(&tail[0], address_of(block[2]) - HEADER_BYTES); /* a live block is filed */
    is_seen(&tail[0], 4);                                   /* leads out of the region */
    is_seen(&tail[0], 0xFFFFFFF8u);
    is_seen(&tail[0], address_of(tail) + 4);
    is_seen(&tail[1], 0);
    is_seen(&head[1], address_of(tail) - HEADER_BYTES);
}

/**
 * In a tree the links of the head, which is the node, are followed by its two subtrees. Here it has
 * none.
 */
static void damaged_subtrees(void) {
    uint32_t *const head = block[3];
    for (int side = 2; side <= 3; side++) {
        CHECK_EQUAL(head[side], 0);
        is_seen(&head[side], address_of(head) - HEADER_BYTES);     /* a ring */
        is_seen(&head[side], address_of(block[1]) - HEADER_BYTES); /* filed twice */
        is_seen(&head[side], address_of(block[2]) - HEADER_BYTES); /* live */
        is_seen(&head[side], address_of(head) + 4);
        is_seen(&head[side], 4);
        is_seen(&head[side], 0xFFFFFFF8u);
    }
}

/** Two of the list of 40 bytes, in the wrong order of address. */
static void an_order_that_is_wrong(void) {
    heap_block *const first = header_before(block[1]);
    heap_block *const second = header_before(block[3]);
    uint32_t *const first_links = block[1];
    uint32_t *const second_links = block[3];
    uint32_t *const third_links = (uint32_t *)(uintptr_t)(second_links[0] + HEADER_BYTES);
    const uint32_t third = second_links[0];
    CHECK_EQUAL(first_links[0], address_of(second));
    heap_index_remove(first);
    CHECK_EQUAL(second_links[1], 0);
    second_links[0] = address_of(first); /* second, first, third: every link agrees */
    first_links[1] = address_of(second);
    first_links[0] = third;
    third_links[1] = address_of(first);
    CHECK(!heap_check());
}

void test_checker(void) {
    build();
    damaged_headers();
    damaged_status();
    damaged_links();
    if (promised()->tree) {
        damaged_subtrees();
    }
    if (promised()->by_address) {
        an_order_that_is_wrong();
    }
}
