/**
 * M. Conte's TLSF 3.1 as shipped within LVGL (lv_tlsf.c, BSD licence, crate lvgl-sys 0.6.2): two
 * levels of lists, 32 to an octave, found by bitmaps. Built with an LV_ASSERT that does nothing, as
 * NDEBUG does to the original's assertions.
 *
 * It aligns to 4, and a block's header has 4 bytes. So every request is rounded up to 8 n + 4
 * bytes, and the pool begins and ends accordingly; then all payloads are multiples of 8. The other
 * way, lv_tlsf_memalign(), would search for 24 bytes more and cut twice; it serves larger
 * alignments. The price: from 256 bytes on such a size lies on no slot's edge, so a search for it
 * rounds up past the very block that was just freed. It cannot tell its free bytes without a walk,
 * so they are counted here.
 */
#include "lv_tlsf.h"

#include "allocators/counted_adapter.h"

static lv_tlsf_t control;
static lv_pool_t pool;

#define HEADER_BYTES 4u
/* Octaves above 128 bytes, up to the region's next power of two, and one list of lists below. It
 * has one even for 64 bytes, where LVGL's own sum comes to none. */
#define FIRST_LEVELS (32u - (uint32_t)__builtin_clz((TAILSCOPE_HEAP_BYTES - 1u) | 64u) - 6u)
/* An empty block and a bitmap; a bitmap and 32 lists of each octave. For 64 KiB: 1,340 bytes. */
#define CONTROL_BYTES (20u + FIRST_LEVELS * (4u + 32u * 4u))

/* The control block and the pool's end mark; a block's header is its size. */
const allocator_overhead_bytes allocator_overhead = {
    .heap = CONTROL_BYTES + 4u, .block = HEADER_BYTES, .smallest_block = 16};
const size_t allocator_largest_alignment = ANY_ALIGNMENT;

/** Payloads are 12, 20, 28 ... bytes. */
static size_t round_up(size_t size) {
    HEAP_REQUIRE(size <= SIZE_MAX - 3u);
    return ((size + 3u) & ~(size_t)7u) + 4u;
}

/** Adds up and notes the largest and the smallest. */
typedef struct {
    allocator_free_space free;
    size_t largest;
} survey;

static void look_at(void *payload, size_t size, int used, void *context) {
    survey *const found = context;
    (void)payload;
    if (used == 0) {
        found->free.smallest_block = found->free.blocks == 0 || size < found->free.smallest_block
                                         ? size
                                         : found->free.smallest_block;
        found->largest = size > found->largest ? size : found->largest;
        free_space_note_largest(&found->free, size);
        found->free.bytes += size;
        found->free.blocks++;
    }
}

static survey look_around(void) {
    survey found = {0};
    if (counted.region_bytes != 0) {
        lv_tlsf_walk_pool(pool, look_at, &found);
    }
    return found;
}

void allocator_init(void *region, size_t bytes) {
    HEAP_REQUIRE((uintptr_t)region % 8u == 0 && bytes >= CONTROL_BYTES + 32u);
    control = lv_tlsf_create(region);
    const uintptr_t start = (((uintptr_t)region + lv_tlsf_size() + 3u) & ~(uintptr_t)7u) + 4u;
    const size_t room = (uintptr_t)region + bytes - start;
    pool = lv_tlsf_add_pool(control, (void *)start, ((room - 12u) & ~(size_t)7u) + 12u);
    counted.region_bytes = pool == NULL ? 0 : bytes;
    counted.free_bytes = look_around().free.bytes;
}

BARE_ALLOCATE(lv_tlsf_malloc(control, size))
BARE_ALLOCATE_ALIGNED(lv_tlsf_memalign(control, alignment, size))

static void *shipped_allocate(size_t size) {
    return lv_tlsf_malloc(control, round_up(size));
}

static void *shipped_allocate_aligned(size_t size, size_t alignment) {
    return alignment <= 8u ? shipped_allocate(size)
                           : lv_tlsf_memalign(control, alignment, round_up(size));
}

static void *shipped_reallocate(void *payload, size_t size) {
    return lv_tlsf_realloc(control, payload, round_up(size));
}

static void shipped_free(void *payload) {
    (void)lv_tlsf_free(control, payload);
}

static size_t shipped_usable_bytes(const void *payload) {
    return lv_tlsf_block_size((void *)(uintptr_t)payload);
}

allocator_free_space allocator_read_free(void) {
    return look_around().free;
}

/**
 * A search begins at the slot whose least size holds the request. Above 128 bytes an octave has 32
 * slots.
 */
size_t allocator_largest_free_block(void) {
    const size_t largest = look_around().largest;
    if (largest < 128u) {
        return largest;
    }
    const unsigned slot_log2 = (31u - (unsigned)__builtin_clz((unsigned)largest)) - 5u;
    const size_t least_of_slot = largest >> slot_log2 << slot_log2;
    return ((least_of_slot - 4u) & ~(size_t)7u) + 4u;
}

EXTENT_BY_HEADER

LARGEST_EXTENT_BY_WALK

/** Its own checks, of the lists and of the pool. */
bool allocator_check(void) {
    return counted.region_bytes == 0 ||
           (lv_tlsf_check(control) == 0 && lv_tlsf_check_pool(pool) == 0);
}

ALLOCATOR_NAME
