/* my_heap.c behind a lock, for main.c. The bench takes my_heap.c itself, with locks of its own. */

#include "my_heap.c"

static char region[4 * BLOCK_BYTES] __attribute__((aligned(8)));

void heap_begin(void);
void *heap_allocate(size_t size);
void heap_free(void *block);

void heap_begin(void) {
    plain_init(region, sizeof region);
}

void *heap_allocate(size_t size) {
    __asm__ volatile("cpsid i" ::: "memory");
    void *const block = plain_allocate(size);
    __asm__ volatile("cpsie i" ::: "memory");
    return block;
}

void heap_free(void *block) {
    __asm__ volatile("cpsid i" ::: "memory");
    plain_free(block);
    __asm__ volatile("cpsie i" ::: "memory");
}
