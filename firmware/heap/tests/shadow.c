#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "allocator.h"
#include "bench.h"

typedef struct {
    uint8_t *payload;
    size_t size;
    uint8_t fill;
    bool aligned; /* above 8: there may be no reallocation of it */
} shadow_block;

static shadow_block blocks[SHADOW_LIMIT];
static size_t live;

static size_t own_alignment = ALIGNMENT;

void shadow_take_alignment(const char *bytes) {
    own_alignment = bytes == NULL ? ALIGNMENT : strtoul(bytes, NULL, 10);
}

void shadow_reset(void) {
    live = 0;
    heap_reset();
}

size_t shadow_live(void) {
    return live;
}

static void remember(uint8_t *payload, size_t size, size_t alignment, uint8_t fill) {
    blocks[live++] = (shadow_block){payload, size, fill, alignment > ALIGNMENT};
    memset(payload, fill, size);
}

bool shadow_allocate(size_t size, size_t alignment, uint8_t fill) {
    uint8_t *const payload =
        alignment == ALIGNMENT ? heap_allocate(size) : heap_allocate_aligned(size, alignment);
    CHECK_EQUAL(heap_last_operation().status, payload != NULL ? HEAP_OK : HEAP_OUT_OF_MEMORY);
    if (payload == NULL) {
        return false;
    }
    CHECK_EQUAL((uintptr_t)payload % (alignment == ALIGNMENT ? own_alignment : alignment), 0);
    CHECK(!allocator_promises("tells_usable") || allocator_usable_size(payload) >= size);
    if (live == SHADOW_LIMIT) {
        abort(); /* the test asks for more blocks than the shadow has room for */
    }
    remember(payload, size, alignment, fill);
    return true;
}

void shadow_free(size_t chosen) {
    CHECK(is_filled_with(blocks[chosen].payload, blocks[chosen].size, blocks[chosen].fill));
    CHECK_EQUAL(heap_free(blocks[chosen].payload), HEAP_OK);
    blocks[chosen] = blocks[--live];
}

void shadow_free_all(uint32_t seed) {
    while (live > 0) {
        shadow_free(next_random(&seed) % live);
    }
}

bool shadow_reallocate(size_t chosen, size_t size) {
    shadow_block *const block = &blocks[chosen];
    uint8_t *const payload = heap_reallocate(block->payload, size);
    const size_t kept = payload != NULL && size < block->size ? size : block->size;
    CHECK(is_filled_with(payload != NULL ? payload : block->payload, kept, block->fill));
    if (payload == NULL) {
        const heap_status status = heap_last_operation().status;
        CHECK(status == HEAP_OUT_OF_MEMORY || (block->aligned && status == HEAP_UNSUPPORTED));
        return false;
    }
    CHECK_EQUAL((uintptr_t)payload % own_alignment, 0);
    CHECK(allocator_usable_size(payload) >= size);
    memset(payload, block->fill, size);
    *block =
        (shadow_block){payload, size, block->fill, block->aligned && payload == block->payload};
    return true;
}

static int by_address(const void *a, const void *b) {
    const uint8_t *const left = ((const shadow_block *)a)->payload;
    const uint8_t *const right = ((const shadow_block *)b)->payload;
    return (left > right) - (left < right);
}

void shadow_check(void) {
    bool sound = true;
    qsort(blocks, live, sizeof *blocks, by_address);
    for (size_t i = 0; i < live; i++) {
        const shadow_block *const block = &blocks[i];
        sound = sound && is_filled_with(block->payload, block->size, block->fill);
        sound = sound && (i == 0 || blocks[i - 1].payload + blocks[i - 1].size <= block->payload);
    }
    CHECK(sound);
    if (live > 0) {
        const shadow_block *const last = &blocks[live - 1];
        CHECK((size_t)distance(blocks[0].payload, last->payload) + last->size <=
              heap_region_bytes());
    }
}

size_t shadow_usable_bytes(void) {
    size_t sum = 0;
    for (size_t i = 0; i < live; i++) {
        sum += allocator_usable_size(blocks[i].payload);
    }
    return sum;
}
