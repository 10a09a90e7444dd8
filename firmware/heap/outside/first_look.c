/**
 * The first steps of an allocator from outside: says each before it takes it, on stdout, so that
 * whoever reads it knows which did not come to its end. firmware/build/outside_file.py builds and
 * runs it.
 *
 *     init, allocate, free, done    each as it begins
 *     sound or unsound              at last: whether allocator_check() held all the while, and each
 *                                   block could hold what was asked for
 */
#include <stdio.h>
#include <unistd.h>

#include "allocator.h"

enum { WITHIN_S = 5, BLOCKS = 8 };

_Alignas(16) uint8_t heap_region[TAILSCOPE_HEAP_BYTES];

static bool sound = true;

static void look(void) {
    sound = sound && allocator_check();
}

static void *allocate(size_t size) {
    void *const payload = allocator_allocate(size).payload;
    sound = sound && payload != NULL && allocator_usable_size(payload) >= size;
    look();
    return payload;
}

int main(void) {
    void *blocks[BLOCKS];
    setvbuf(stdout, NULL, _IONBF, 0);
    (void)alarm(WITHIN_S); /* ends the process */
    puts("init");
    allocator_init(heap_region, sizeof heap_region);
    look();
    puts("allocate");
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = allocate(24 + 40 * i);
    }
    puts("free");
    for (size_t i = 0; i < BLOCKS; i++) {
        (void)allocator_free(blocks[(5 * i + 2) % BLOCKS]);
        look();
    }
    puts("done");
    puts(sound ? "sound" : "unsound");
    return 0;
}
