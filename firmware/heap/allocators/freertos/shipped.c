/**
 * allocator.h on the heaps of FreeRTOS that free: heap_2, heap_4, heap_5. All three tile the region
 * with blocks that begin with a link and a size. The highest bit of the size is set while the block
 * is live (11.2.0, MemMang/heap_*.c).
 *
 * What they cannot tell is read off the blocks: the payload of a live one, and, outside of timed
 * code, what is free. They align to 8; more comes from shifted.h, whose marks have the live bit
 * clear. Their free bytes include the headers of free blocks.
 */
#include "allocators/freertos/shipped.h"

#include "allocators/shifted.h"

typedef struct {
    void *next;
    uint32_t size; /* header included */
} shipped_block;

#define HEADER_BYTES 8u
#define LIVE 0x80000000u
_Static_assert(sizeof(shipped_block) == HEADER_BYTES,
               "FreeRTOS's heaps are measured on 32-bit machines");

static const shifted_mark mark = {.mask = LIVE, .tag = 0};

const allocator_overhead_bytes allocator_overhead = {
    .heap = 8, .block = HEADER_BYTES, .smallest_block = 16};
const size_t allocator_largest_alignment = SHIFTED_LARGEST_ALIGNMENT / 2u;

static struct {
    const uint8_t *first;
    size_t bytes;
} region;

void allocator_init(void *start, size_t bytes) {
    HEAP_REQUIRE((uintptr_t)start % 8u == 0 && bytes % 8u == 0);
    HEAP_REQUIRE(bytes >= 3u * HEADER_BYTES && bytes < LIVE);
    region.first = start;
    region.bytes = bytes;
    vPortHeapResetState();
    shipped_start(start, bytes);
}

BARE_ALLOCATE(pvPortMalloc(size))

allocator_result allocator_allocate(size_t size) {
    ANSWER_IF_OK(request_judge(size, region.bytes), answer(pvPortMalloc(size)));
}

allocator_result allocator_allocate_aligned(size_t size, size_t alignment) {
    REFUSE_UNLESS_OK(request_judge_aligned(size, alignment, region.bytes));
    return answer(shifted_up(pvPortMalloc(size + shifted_extra_bytes(alignment)), alignment, mark));
}

NO_REALLOCATION

static inline bool is_live(const void *payload);

heap_status allocator_free(void *payload) {
    REFUSE_NO_BLOCK(payload, region.bytes == 0);
    HEAP_REQUIRE(is_live(payload));
    vPortFree(shifted_origin(payload, mark));
    return HEAP_OK;
}

size_t allocator_usable_size(const void *payload) {
    if (payload == NULL || region.bytes == 0) {
        return 0;
    }
    const uint32_t offset = shifted_offset(payload, mark);
    const shipped_block *const block = (const void *)((uintptr_t)payload - offset - HEADER_BYTES);
    return (block->size & ~LIVE) - HEADER_BYTES - offset;
}

/* Reading the blocks. The region's last 8 bytes are an end mark, or lie idle. */

static const shipped_block *block_at(size_t offset) {
    return (const void *)(region.first + offset);
}

/** The offset behind the block at `offset`, or 0 where no block can lie. */
static size_t behind(size_t offset) {
    const size_t size = block_at(offset)->size & ~LIVE;
    const bool sound =
        size >= 2u * HEADER_BYTES && size % 8u == 0 && size <= region.bytes - HEADER_BYTES - offset;
    return sound ? offset + size : 0;
}

static bool is_free(size_t offset) {
    return (block_at(offset)->size & LIVE) == 0;
}

/** What vPortFree() presumes and asserts only in part. */
static inline bool is_live(const void *payload) {
    const uintptr_t in_region = (uintptr_t)payload - (uintptr_t)region.first;
    if (in_region < HEADER_BYTES || in_region >= region.bytes || in_region % 8u != 0) {
        return false;
    }
    const size_t before = shifted_offset(payload, mark) + HEADER_BYTES;
    return before <= in_region && !is_free(in_region - before) && behind(in_region - before) != 0;
}

size_t allocator_largest_free_block(void) {
    size_t largest = 0;
    for (size_t at = 0; at + HEADER_BYTES < region.bytes && behind(at) != 0; at = behind(at)) {
        const size_t payload = behind(at) - at - HEADER_BYTES;
        if (is_free(at) && payload > largest) {
            largest = payload;
        }
    }
    return largest;
}

allocator_free_space allocator_read_free(void) {
    allocator_free_space space = {0};
    for (size_t at = 0; at + HEADER_BYTES < region.bytes && behind(at) != 0; at = behind(at)) {
        const size_t payload = behind(at) - at - HEADER_BYTES;
        if (is_free(at)) {
            free_space_add(&space, payload);
        }
    }
    return space;
}

SHIFTED_EXTENT(mark, HEADER_BYTES)

LARGEST_EXTENT_BY_WALK

/** The blocks tile the region, and the free ones add up to what the heap itself says. */
bool allocator_check(void) {
    size_t at = 0;
    size_t free_bytes = 0;
    while (at + HEADER_BYTES < region.bytes) {
        const size_t next = behind(at);
        if (next == 0) {
            return false;
        }
        free_bytes += is_free(at) ? next - at : 0;
        at = next;
    }
    return region.bytes == 0 ||
           (at + HEADER_BYTES == region.bytes && free_bytes == xPortGetFreeHeapSize());
}

size_t allocator_free_bytes(void) {
    return region.bytes == 0 ? 0 : xPortGetFreeHeapSize();
}

/* counted from outside (README, Probes) */
NO_PROBES
