/**
 * umm_malloc as shipped (R. Hempel, MIT licence, crate umm-malloc-sys 0.3.2): units of 8 bytes,
 * 16-bit links, one list of free blocks that is searched to its end for the smallest that fits.
 *
 * It aligns to 4: a payload lies 4 bytes behind a unit. Its heap begins 4 bytes into the region, so
 * payloads are multiples of 8. More comes from shifted.h: a live block's header has bit 15 clear.
 * It cannot tell its free bytes without a walk, so they are counted here. The rest is read off the
 * headers, whose layout is private (umm_malloc.c, umm_block).
 */
#include "allocators/shifted.h"

#define FREE 0x8000u
static const shifted_mark mark = {.mask = FREE, .tag = FREE};

/* umm_realloc() would take a shifted payload for another block. */
#define CAN_REALLOCATE(payload) (shifted_offset(payload, mark) == 0)
#include "allocators/counted_adapter.h"

/* These take size_t from whoever includes them. */
#include "umm_malloc.h"
#include "umm_malloc_cfg.h"

#define UNIT_BYTES 8u
#define HEADER_BYTES 4u

/** A unit that begins a block. Links are numbers of units. */
typedef struct {
    uint16_t next, prev;
    uint16_t next_free, prev_free;
} unit;
_Static_assert(sizeof(unit) == UNIT_BYTES, "the unit of umm_malloc");

static const unit *units;

/* The first and the last unit, and the 8 bytes around the shift by 4. */
const allocator_overhead_bytes allocator_overhead = {
    .heap = 24, .block = HEADER_BYTES, .smallest_block = UNIT_BYTES};
const size_t allocator_largest_alignment = SHIFTED_LARGEST_ALIGNMENT;

void allocator_init(void *region, size_t bytes) {
    HEAP_REQUIRE((uintptr_t)region % 8u == 0 && (bytes - HEADER_BYTES) / UNIT_BYTES < FREE);
    uint8_t *const start = (uint8_t *)region + HEADER_BYTES;
    umm_init_heap(start, (bytes - HEADER_BYTES) & ~(size_t)(UNIT_BYTES - 1u));
    units = (const void *)start;
    counted.region_bytes = bytes;
    counted.free_bytes = allocator_read_free().bytes;
}

BARE_ALLOCATE(umm_malloc(size))

static void *shipped_allocate(size_t size) {
    return umm_malloc(size);
}

static void *shipped_allocate_aligned(size_t size, size_t alignment) {
    return shifted_up(umm_malloc(size + shifted_extra_bytes(alignment)), alignment, mark);
}

static void *shipped_reallocate(void *payload, size_t size) {
    return umm_realloc(payload, size);
}

static inline bool is_live(const void *payload);

static void shipped_free(void *payload) {
    HEAP_REQUIRE(is_live(payload));
    umm_free(shifted_origin(payload, mark));
}

/** Payload of the block at `index`. */
static size_t payload_of(size_t index) {
    return ((units[index].next & ~FREE) - index) * UNIT_BYTES - HEADER_BYTES;
}

static size_t shipped_usable_bytes(const void *payload) {
    const uint32_t offset = shifted_offset(payload, mark);
    const uintptr_t origin = (uintptr_t)payload - offset - HEADER_BYTES;
    return payload_of((origin - (uintptr_t)units) / UNIT_BYTES) - offset;
}

/** What umm_free() presumes: a unit of this heap begins a block that is not free. */
static inline bool is_live(const void *payload) {
    const uintptr_t origin =
        (uintptr_t)payload - shifted_offset(payload, mark) - HEADER_BYTES - (uintptr_t)units;
    return origin < counted.region_bytes && origin % UNIT_BYTES == 0 &&
           (units[origin / UNIT_BYTES].next & FREE) == 0 && payload_of(origin / UNIT_BYTES) != 0;
}

/** The list of blocks begins behind the first unit and ends at one whose next is 0. */
allocator_free_space allocator_read_free(void) {
    allocator_free_space space = {0};
    for (size_t at = counted.region_bytes == 0 ? 0 : units[0].next; at != 0 && units[at].next != 0;
         at = units[at].next & ~FREE) {
        const size_t payload = payload_of(at);
        if ((units[at].next & FREE) != 0) {
            free_space_add(&space, payload);
        }
    }
    return space;
}

size_t allocator_largest_free_block(void) {
    size_t largest = 0;
    for (size_t at = counted.region_bytes == 0 ? 0 : units[0].next_free; at != 0;
         at = units[at].next_free) {
        largest = payload_of(at) > largest ? payload_of(at) : largest;
    }
    return largest;
}

SHIFTED_EXTENT(mark, HEADER_BYTES)

LARGEST_EXTENT_BY_WALK

/** Its own check, which prints where it finds damage. */
bool allocator_check(void) {
    return counted.region_bytes == 0 || umm_integrity_check();
}

/* Its umm_init() reads these, and nobody calls it. */
void *UMM_MALLOC_CFG_HEAP_ADDR;
uint32_t UMM_MALLOC_CFG_HEAP_SIZE;

int umm_printf(const char *format, ...) {
    (void)format;
    return 0;
}

ALLOCATOR_NAME
