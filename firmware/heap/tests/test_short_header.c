/* The block layer with a header of 8 or 4 bytes, and tlsf_compact, whose words are the same without
 * the mark: what they tell of a neighbour, and that damage is seen. */
#include "bench.h"

enum { MARK = 0x54000000, FREE = 1, BEFORE = 2 };

/** The word with mark, size and bits, which lies right before the payload. */
static uint32_t word_of(const void *payload) {
    uint32_t word;
    memcpy(&word, (const uint8_t *)payload - 4, sizeof word);
    return word;
}

/** The word before that one: with BEFORE it leads to the free block before, else it is payload. */
static uint32_t before_word_of(const void *payload) {
    return word_of((const uint8_t *)payload - 4);
}

static void only_a_free_block_is_known_from_behind(bool layered) {
    heap_reset();
    uint8_t *const first = heap_allocate(100);
    uint8_t *const second = heap_allocate(100);
    const uint32_t live = (layered ? MARK : 0) | (uint32_t)distance(first, second);
    memset(first, 0x77, 100);
    CHECK_EQUAL(word_of(second), live);
    if (distance(first, second) == 100 + 4) {
        CHECK_EQUAL(before_word_of(second), 0x77777777u);
    }
    heap_free(first);
    CHECK_EQUAL(word_of(first), live | FREE);
    CHECK_EQUAL(word_of(second), live | BEFORE);
    CHECK_EQUAL(before_word_of(second), (uintptr_t)(first - (layered ? 8 : 4)));
    CHECK(heap_allocate(100) == first);
    CHECK_EQUAL(word_of(second), live);
}

static void damage_is_seen(void) {
    heap_reset();
    uint8_t *const live = heap_allocate(100);
    uint8_t *const freed = heap_allocate(100);
    uint8_t *const last = heap_allocate(100);
    void *const larger = heap_allocate(400);
    (void)heap_allocate(8);
    heap_free(larger); /* first, so that it is the designated victim and the other is filed */
    heap_free(freed);
    each_bit_is_seen(live - 4);
    each_bit_is_seen(freed - 4);
    each_bit_is_seen(freed); /* its links */
    each_bit_is_seen(freed + 4);
    each_bit_is_seen(last - 8);
    each_bit_is_seen(last - 4);
}

/** A header or neighbour that disagrees: the free is refused, and the heap is as it was. */
static void a_free_beside_damage_is_refused(void) {
    heap_reset();
    uint8_t *const freed = heap_allocate(100);
    uint8_t *const live = heap_allocate(100);
    uint8_t *const behind = heap_allocate(100);
    heap_free(freed);
    uint8_t *const words[] = {freed - 4, live - 8, live - 4, behind - 4};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        for (int bit = 3; bit < 24; bit++) {
            uint32_t sound;
            memcpy(&sound, words[i], sizeof sound);
            const uint32_t damaged = sound ^ 1u << bit;
            memcpy(words[i], &damaged, sizeof damaged);
            const bool is_last = words[i] == behind - 4; /* what lies behind it is not looked at */
            if (!is_last || (damaged & 0xFFFFFFu) > heap_region_bytes()) {
                CHECK_EQUAL(heap_free(live), HEAP_CORRUPT);
            }
            memcpy(words[i], &sound, sizeof sound);
            CHECK(heap_check());
        }
    }
    CHECK_EQUAL(heap_free(live), HEAP_OK);
    CHECK(heap_check());
}

void test_short_header(void) {
    const bool layered = allocator_promises("block_layer");
    only_a_free_block_is_known_from_behind(layered);
    damage_is_seen();
    if (layered) { /* without a mark a free is not refused */
        a_free_beside_damage_is_refused();
    }
}
