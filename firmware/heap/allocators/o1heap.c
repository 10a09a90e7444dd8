/**
 * O1Heap 2.x as shipped (P. Kirienko, MIT licence, crate o1heap 0.0.2): a list for each power of
 * two, as Half-Fit, and every block is a power of two too. Built without its assertions, as its
 * README tells for release builds.
 *
 * It aligns to 16; more comes from shifted.h. The word before a live payload ends with the byte
 * `used`, which is 1; a mark ends with 0. It tells its free bytes, of which each block takes 16 for
 * its header. The largest free block and the number of free ones are read off the headers, whose
 * layout is private (o1heap.c, FragmentHeader).
 */
#include "o1heap.h"

#include "allocators/shifted.h"

typedef struct fragment {
    struct fragment *next, *prev;
    size_t size; /* header included */
    bool used;
} fragment;

#define HEADER_BYTES O1HEAP_ALIGNMENT
#define SMALLEST_FRAGMENT (2u * HEADER_BYTES)
_Static_assert(sizeof(fragment) == HEADER_BYTES, "O1Heap is measured on 32-bit machines");

static const shifted_mark mark = {.mask = 0xFF, .tag = 0};

static O1HeapInstance *heap;
static size_t region_bytes;

/* Its instance (32 lists, a mask, diagnostics) lies in the region. */
const allocator_overhead_bytes allocator_overhead = {
    .heap = 160, .block = HEADER_BYTES, .smallest_block = 32};
const size_t allocator_largest_alignment = SHIFTED_LARGEST_ALIGNMENT;

void allocator_init(void *region, size_t bytes) {
    HEAP_REQUIRE((uintptr_t)region % 8u == 0);
    const size_t misfit = (uintptr_t)region % O1HEAP_ALIGNMENT;
    const size_t skipped = misfit == 0 ? 0 : O1HEAP_ALIGNMENT - misfit;
    heap = o1heapInit((uint8_t *)region + skipped, bytes - skipped);
    region_bytes = heap == NULL ? 0 : bytes;
}

BARE_ALLOCATE(o1heapAllocate(heap, size))

allocator_result allocator_allocate(size_t size) {
    ANSWER_IF_OK(request_judge(size, region_bytes), answer(o1heapAllocate(heap, size)));
}

allocator_result allocator_allocate_aligned(size_t size, size_t alignment) {
    REFUSE_UNLESS_OK(request_judge_aligned(size, alignment, region_bytes));
    return answer(
        shifted_up(o1heapAllocate(heap, size + shifted_extra_bytes(alignment)), alignment, mark));
}

NO_REALLOCATION

/** What o1heapFree() presumes of the fragment, and asserts. */
static inline bool is_used(const void *payload) {
    const uintptr_t header = (uintptr_t)payload - shifted_offset(payload, mark) - HEADER_BYTES;
    const fragment *const at = (const void *)header;
    return header % O1HEAP_ALIGNMENT == 0 && at->used && at->size % SMALLEST_FRAGMENT == 0 &&
           at->size != 0;
}

heap_status allocator_free(void *payload) {
    REFUSE_NO_BLOCK(payload, heap == NULL);
    HEAP_REQUIRE(is_used(payload));
    o1heapFree(heap, shifted_origin(payload, mark));
    return HEAP_OK;
}

size_t allocator_usable_size(const void *payload) {
    if (payload == NULL || heap == NULL) {
        return 0;
    }
    const uint32_t offset = shifted_offset(payload, mark);
    const fragment *const header = (const void *)((uintptr_t)payload - offset - HEADER_BYTES);
    return header->size - HEADER_BYTES - offset;
}

size_t allocator_free_bytes(void) {
    if (heap == NULL) {
        return 0;
    }
    const O1HeapDiagnostics diagnostics = o1heapGetDiagnostics(heap);
    return diagnostics.capacity - diagnostics.allocated;
}

/* The first fragment lies behind the instance: the two make the smallest arena. */
static const fragment *first_fragment(void) {
    return heap == NULL ? NULL
                        : (const void *)((uintptr_t)heap + o1heapMinArenaSize - SMALLEST_FRAGMENT);
}

allocator_free_space allocator_read_free(void) {
    allocator_free_space space = {0};
    for (const fragment *at = first_fragment(); at != NULL; at = at->next) {
        const size_t payload = at->size - HEADER_BYTES;
        if (!at->used) {
            free_space_add(&space, payload);
        }
    }
    return space;
}

/** A fragment serves what, with its header, is at most the power of two below its size. */
size_t allocator_largest_free_block(void) {
    size_t largest = 0;
    for (const fragment *at = first_fragment(); at != NULL; at = at->next) {
        const size_t power = (size_t)1 << (31 - __builtin_clz((unsigned)at->size));
        if (!at->used && power - HEADER_BYTES > largest) {
            largest = power - HEADER_BYTES;
        }
    }
    return largest;
}

SHIFTED_EXTENT(mark, HEADER_BYTES)

LARGEST_EXTENT_BY_WALK

/* no search loop: a bitmap */
NO_PROBES

/** It checks its own figures, and does not walk. */
bool allocator_check(void) {
    return heap == NULL || o1heapDoInvariantsHold(heap);
}

ALLOCATOR_NAME
