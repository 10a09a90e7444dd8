/**
 * dlmalloc 2.8.6 as shipped (D. Lea, CC0, within crate libffi-sys 4.2.2): lists for small sizes,
 * bitwise tries for large ones, a designated victim, and a top that was never used. It has one
 * space over the region, and takes nothing from the system.
 *
 * It aligns to 8, and to more by its mspace_memalign(). Free bytes are counted here, in constant
 * time; the rest is read off the chunks (lea/chunks.h). If it finds its heap damaged, it ends in a
 * trap.
 */
#include "allocators/counted_adapter.h"
#include "allocators/lea/chunks.h"

/* From its malloc-2.8.6.h, which the crate does not have. */
typedef void *mspace;
struct mallinfo_2_8_6 {
    size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
mspace create_mspace_with_base(void *base, size_t capacity, int locked);
void *mspace_malloc(mspace space, size_t bytes);
void mspace_free(mspace space, void *payload);
void *mspace_realloc(mspace space, void *payload, size_t bytes);
void *mspace_memalign(mspace space, size_t alignment, size_t bytes);
size_t mspace_usable_size(const void *payload);
struct mallinfo_2_8_6 mspace_mallinfo(mspace space);

/* Behind the top lies a description of the segment (TOP_FOOT_SIZE). */
#define FOOT_BYTES 40u

static mspace space;
static const lea_chunk *first;

/* Its state is the region's first chunk; of the top, 8 bytes always remain. */
const allocator_overhead_bytes allocator_overhead = {
    .heap = 472 + FOOT_BYTES + 8,
    .block = LEA_HEADER_BYTES,
    .smallest_block = LEA_SMALLEST_CHUNK,
};
const size_t allocator_largest_alignment = ANY_ALIGNMENT;

void allocator_init(void *region, size_t bytes) {
    HEAP_REQUIRE((uintptr_t)region % 8u == 0);
    space = create_mspace_with_base(region, bytes, 0);
    first = region;
    counted.region_bytes = space == NULL ? 0 : bytes;
    counted.free_bytes = allocator_read_free().bytes;
}

BARE_ALLOCATE(mspace_malloc(space, size))
BARE_ALLOCATE_ALIGNED(mspace_memalign(space, alignment, size))

static void *shipped_allocate(size_t size) {
    return mspace_malloc(space, size);
}

static void *shipped_allocate_aligned(size_t size, size_t alignment) {
    return mspace_memalign(space, alignment, size);
}

static void *shipped_reallocate(void *payload, size_t size) {
    return mspace_realloc(space, payload, size);
}

static void shipped_free(void *payload) {
    HEAP_REQUIRE((uintptr_t)payload - (uintptr_t)first < counted.region_bytes);
    mspace_free(space, payload);
}

static size_t shipped_usable_bytes(const void *payload) {
    return mspace_usable_size(payload);
}

/* The top is the last chunk before the foot; it always exists and counts as free. */

static size_t top_bytes(void) {
    return counted.region_bytes == 0 ? 0 : mspace_mallinfo(space).keepcost;
}

static const lea_chunk *top(void) {
    return (const void *)((uintptr_t)first + counted.region_bytes - FOOT_BYTES - top_bytes());
}

static lea_survey look_around(void) {
    return counted.region_bytes == 0 ? (lea_survey){.sound = true} : lea_look_around(first, top());
}

allocator_free_space allocator_read_free(void) {
    lea_survey found = look_around();
    if (top_bytes() > LEA_HEADER_BYTES) {
        lea_count_free(&found, top_bytes() - LEA_HEADER_BYTES);
    }
    return found.free;
}

/** Of the top, 8 bytes always remain. */
size_t allocator_largest_free_block(void) {
    const size_t largest = look_around().largest;
    const size_t from_top =
        top_bytes() > LEA_SMALLEST_CHUNK + 8u ? top_bytes() - 8u - LEA_HEADER_BYTES : 0;
    return from_top > largest ? from_top : largest;
}

EXTENT_BY_HEADER

size_t allocator_largest_free_extent(void) {
    const size_t extent = with_header(look_around().largest, LEA_HEADER_BYTES);
    return top_bytes() > extent ? top_bytes() : extent;
}

bool allocator_check(void) {
    return look_around().sound;
}

ALLOCATOR_NAME
