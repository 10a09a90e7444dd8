/**
 * A heap to talk to: reads operations from stdin, a line each, and answers each with a line, so
 * that a model in another language can be held against it.
 *
 *     <slot> <size> <align_log2>   a size of 0 frees the slot; otherwise it is allocated, or
 *                                  reallocated if it is live
 *     .                            answers a dot, resets the heap and begins again
 *
 * Answer: what was done (A, R, F, or - for the free of an empty slot), status, address, usable
 * bytes; then, after it, the largest free block (0 where the allocator does not promise to know
 * it), live blocks, bytes in use, the number of live blocks whose content is damaged, and 1 if
 * heap_check() holds. Every live block is filled with a pattern of its slot.
 */
#include <stdio.h>
#include <string.h>

#include "allocator.h"
#include "allocator_promises.h"

enum { SLOTS = 64, LINE_BYTES = 64 };

typedef struct {
    uint8_t *payload;
    size_t size;
} slot;

static slot slots[SLOTS];
static bool knows_largest;

static uint8_t pattern(size_t number, size_t at) {
    return (uint8_t)(31 * number + 7 * at + 1);
}

static bool is_whole(size_t number, size_t size) {
    size_t at = 0;
    while (at < size && slots[number].payload[at] == pattern(number, at)) {
        at++;
    }
    return at == size;
}

static void fill(size_t number) {
    for (size_t at = 0; at < slots[number].size; at++) {
        slots[number].payload[at] = pattern(number, at);
    }
}

static unsigned count_damaged(void) {
    unsigned damaged = 0;
    for (size_t number = 0; number < SLOTS; number++) {
        damaged += !is_whole(number, slots[number].size);
    }
    return damaged;
}

static unsigned allocate(size_t number, size_t size, unsigned align_log2) {
    uint8_t *const payload = align_log2 == 0 ? heap_allocate(size)
                                             : heap_allocate_aligned(size, (size_t)1 << align_log2);
    if (payload != NULL) {
        slots[number] = (slot){payload, size};
        fill(number);
    }
    return 0;
}

/** Returns 1 if content was lost on the way. */
static unsigned reallocate(size_t number, size_t size) {
    uint8_t *const payload = heap_reallocate(slots[number].payload, size);
    if (payload == NULL) {
        return 0;
    }
    const size_t kept = size < slots[number].size ? size : slots[number].size;
    slots[number] = (slot){payload, size};
    const bool whole = is_whole(number, kept);
    fill(number);
    return !whole;
}

static unsigned release(size_t number) {
    const unsigned damaged = !is_whole(number, slots[number].size);
    if (heap_free(slots[number].payload) == HEAP_OK) {
        slots[number] = (slot){NULL, 0};
    }
    return damaged;
}

static void answer(char done, size_t number, unsigned damaged) {
    const heap_witness witness = heap_last_operation();
    const uint8_t *const payload = slots[number].payload;
    printf("%c %d %zu %zu %zu %zu %zu %u %d\n", done, (int)witness.status,
           (size_t)(uintptr_t)payload, payload != NULL ? allocator_usable_size(payload) : 0,
           knows_largest ? heap_read_statistics().largest_free_block : 0, witness.live_blocks,
           witness.bytes_in_use, damaged + count_damaged(), heap_check());
}

static void operate(size_t number, size_t size, unsigned align_log2) {
    const bool live = slots[number].payload != NULL;
    if (size == 0) {
        answer(live ? 'F' : '-', number, live ? release(number) : 0);
    } else if (live) {
        answer('R', number, reallocate(number, size));
    } else {
        answer('A', number, allocate(number, size, align_log2));
    }
}

static void begin(void) {
    memset(slots, 0, sizeof slots);
    heap_reset();
}

int main(void) {
    char line[LINE_BYTES];
    knows_largest = allocator_promises("knows_largest");
    begin();
    while (fgets(line, sizeof line, stdin) != NULL) {
        size_t number;
        size_t size;
        unsigned align_log2;
        if (line[0] == '.') {
            begin();
            puts(".");
            fflush(stdout);
        } else if (sscanf(line, "%zu %zu %u", &number, &size, &align_log2) == 3 && number < SLOTS &&
                   align_log2 < 32) {
            operate(number, size, align_log2);
        } else {
            fprintf(stderr, "dialogue: say SLOT SIZE ALIGN_LOG2, or a dot.\n");
            return 2;
        }
    }
    return 0;
}
