/**
 * A buddy system (Knowlton 1965; Knuth, "The Art of Computer Programming", volume 1, section 2.5,
 * algorithms R and S) as a template: binary_buddy.c and ublox_buddy.c define four numbers and
 * include it once.
 *
 *   BUDDY_UNIT_BYTES       the smallest block, header included
 *   BUDDY_LEVELS           how often it can be doubled, and once for itself
 *   BUDDY_HEADER_BYTES     4, or 8 where blocks shall begin at multiples of 8
 *   BUDDY_REMAINDER_FIRST  0 or 1: how the region is laid out
 *
 * A block of level k has 2^k units, and its number is a multiple of 2^k; numbers count in units.
 * Its halves are two blocks of level k − 1, each the other's buddy: their numbers differ in bit
 * k − 1 alone. A free block merges with its buddy only. So a block never begins in the middle of
 * another of its level, and the neighbour is found without a link. Each level has a LIFO list of
 * free blocks.
 *
 * Layout. The largest blocks come first, and what they leave follows, ever smaller blocks. With
 * BUDDY_REMAINDER_FIRST the remainder comes first, ever larger blocks, and then the largest: the
 * numbers are counted so that the region's last unit is the last of a largest block. The heap's own
 * words then lie in the region too, ahead of all blocks.
 *
 * Complexity: a request looks at no more lists and halves no more blocks than there are levels; a
 * free merges as often.
 *
 * Probes: each list looked at, from that of the request's level upward, counts one.
 *
 * Alignment: a block's payload is 8-aligned, no more. For more, a larger block is taken, in which
 * an aligned payload lies further in; the word before that payload leads back to the header.
 */
#include <string.h>

#include "region.h"
#include "request.h"

_Static_assert(BUDDY_HEADER_BYTES == 4u || BUDDY_HEADER_BYTES == 8u, "payloads must be 8-aligned");
_Static_assert(BUDDY_UNIT_BYTES % 8u == 0 && BUDDY_UNIT_BYTES >= BUDDY_HEADER_BYTES + 8u,
               "a free unit must hold a header and two links");
_Static_assert(sizeof(void *) == 4, "for 32-bit machines; on a PC compile with -m32");

/* The header is one word, with a mark in its upper half. A mark that was merged away stays
 * recognisable. So a second free of it is told from a free of something that never was a block. */
enum { MARK_LIVE = 0x4C56, MARK_FREE = 0x4652, MARK_MERGED = 0x4D47, MARK_ALIGNED = 0x414C };

/* A mark says in 16 bits how far back the payload is, in 8 bytes. */
#define LARGEST_ALIGNMENT ((size_t)8 << 16)

#define PAYLOAD_LIMIT ((BUDDY_UNIT_BYTES << (BUDDY_LEVELS - 1u)) - BUDDY_HEADER_BYTES)

typedef struct {
    uint16_t value; /* the level; with MARK_ALIGNED how far back the payload is, in 8 bytes */
    uint16_t mark;
} buddy_header;

typedef struct {
    buddy_header header;
} heap_block;

static void *block_payload(const heap_block *block) {
    return (uint8_t *)(uintptr_t)block + BUDDY_HEADER_BYTES;
}

#include "links.h"

#if BUDDY_REMAINDER_FIRST

typedef struct {
    uint32_t units; /* of the region */
    uint32_t free_bytes;
    heap_block *lists[BUDDY_LEVELS];
} buddy_management;

static const buddy_management before_reset; /* no units: nothing is served, and nothing written */
static struct {
    buddy_management *management;
    uint32_t probes; /* the bench's */
} bench = {.management = (buddy_management *)(uintptr_t)&before_reset};

#define HEAP (*bench.management)
#define PROBES bench.probes
#define BASE ((uint8_t *)(bench.management + 1))
#define BASE_OFFSET sizeof(buddy_management)
_Static_assert((BASE_OFFSET + BUDDY_HEADER_BYTES) % 8u == 0, "payloads must be 8-aligned");

static void place_management(void *region) {
    bench.management = region;
}

#else

static struct {
    uint8_t *base;
    uint32_t units; /* of the region */
    uint32_t free_bytes;
    uint32_t probes;
    heap_block *lists[BUDDY_LEVELS];
} heap;

#define HEAP heap
#define PROBES heap.probes
#define BASE heap.base
#define BASE_OFFSET (8u - BUDDY_HEADER_BYTES) /* so that payloads are 8-aligned */

static void place_management(void *region) {
    heap.base = (uint8_t *)region + BASE_OFFSET;
}

#endif

/* Blocks */

/** The number of the first unit. */
static uint32_t first_number(void) {
    const uint32_t largest = 1u << (BUDDY_LEVELS - 1u); /* units */
    return BUDDY_REMAINDER_FIRST ? (0u - HEAP.units) % largest : 0;
}

static uint32_t block_bytes(uint32_t level) {
    return BUDDY_UNIT_BYTES << level;
}

static uint32_t payload_bytes(uint32_t level) {
    return block_bytes(level) - BUDDY_HEADER_BYTES;
}

/** The header of a payload, or the mark of an aligned one: BUDDY_HEADER_BYTES before it. */
static heap_block *header_before(const void *payload) {
    return (heap_block *)((uintptr_t)payload - BUDDY_HEADER_BYTES);
}

static heap_block *block_at(uint32_t number) {
    return (heap_block *)(void *)(BASE + (number - first_number()) * BUDDY_UNIT_BYTES);
}

static uint32_t number_of(const heap_block *block) {
    return first_number() + (uint32_t)((const uint8_t *)block - BASE) / BUDDY_UNIT_BYTES;
}

static void mark(heap_block *block, uint16_t as, uint32_t level) {
    block->header = (buddy_header){.value = (uint16_t)level, .mark = as};
}

/* Free blocks */

static bool is_free_at(const heap_block *block, uint32_t level);

static void file(heap_block *block, uint32_t level) {
    heap_block *const second = HEAP.lists[level];
    mark(block, MARK_FREE, level);
    *free_list_links(block) = (free_links){.next = second, .previous = NULL};
    if (second != NULL) {
        free_list_links(second)->previous = block;
    }
    HEAP.lists[level] = block;
    HEAP.free_bytes += payload_bytes(level);
}

static void take_out(heap_block *block, uint32_t level) {
    HEAP_REQUIRE(level < BUDDY_LEVELS && is_free_at(block, level));
    free_list_unlink(&HEAP.lists[level], block);
    HEAP.free_bytes -= payload_bytes(level);
}

/** The buddy of the block of `level` with this number, if all of it lies in the region. */
static heap_block *buddy_of(uint32_t number, uint32_t level) {
    const uint32_t buddy = number ^ 1u << level;
    const bool whole = level + 1u < BUDDY_LEVELS && buddy >= first_number() &&
                       buddy + (1u << level) <= first_number() + HEAP.units;
    return whole ? block_at(buddy) : NULL;
}

static bool is_free_at(const heap_block *block, uint32_t level) {
    return block != NULL && block->header.mark == MARK_FREE && block->header.value == level;
}

/** Halves the block from `level` down to `wanted`, filing each second half. */
static void halve(heap_block *block, uint32_t level, uint32_t wanted) {
    const uint32_t number = number_of(block);
    while (level > wanted) {
        level--;
        file(block_at(number + (1u << level)), level);
    }
}

/** Files the block, merged with its buddy as long as that is free. */
static void merge_and_file(heap_block *block, uint32_t level) {
    uint32_t number = number_of(block);
    heap_block *buddy = buddy_of(number, level);
    while (is_free_at(buddy, level)) {
        take_out(buddy, level);
        mark(block_at(number | 1u << level), MARK_MERGED, 0); /* the second of the two */
        number &= ~(1u << level);
        level++;
        buddy = buddy_of(number, level);
    }
    file(block_at(number), level);
}

/* Allocation */

/** Tiles the region with the largest blocks that begin where they may. */
void allocator_init(void *region, size_t bytes) {
    HEAP_REQUIRE((uintptr_t)region % 8u == 0 && bytes >= BASE_OFFSET + BUDDY_UNIT_BYTES);
    memset(region, 0, bytes); /* no header of an earlier heap is taken for one of this */
    place_management(region);
    HEAP.units = (uint32_t)(bytes - BASE_OFFSET) / BUDDY_UNIT_BYTES;
    HEAP.free_bytes = 0;
    PROBES = 0;
    memset(HEAP.lists, 0, sizeof HEAP.lists);
    uint32_t number = first_number();
    const uint32_t end = first_number() + HEAP.units;
    while (number < end) {
        uint32_t level = BUDDY_LEVELS - 1u;
        while (number % (1u << level) != 0 || number + (1u << level) > end) {
            level--;
        }
        file(block_at(number), level);
        number += 1u << level;
    }
}

/** The level whose blocks hold `size` bytes, at most PAYLOAD_LIMIT. */
static uint32_t level_for(uint32_t size) {
    const uint32_t units = (size + BUDDY_HEADER_BYTES + BUDDY_UNIT_BYTES - 1u) / BUDDY_UNIT_BYTES;
    return units <= 1u ? 0 : 32u - (uint32_t)__builtin_clz(units - 1u);
}

/** A block of `level`, marked live, or NULL. */
static heap_block *take(uint32_t level) {
    for (uint32_t found = level; found < BUDDY_LEVELS; found++) {
        PROBES++;
        heap_block *const block = HEAP.lists[found];
        if (block != NULL) {
            take_out(block, found);
            halve(block, found, level);
            mark(block, MARK_LIVE, level);
            return block;
        }
    }
    return NULL;
}

allocator_result allocator_allocate(size_t size) {
    PROBES = 0;
    REFUSE_UNLESS_OK(request_judge(size, HEAP.units == 0 ? 0 : PAYLOAD_LIMIT));
    const uint32_t level = level_for((uint32_t)size);
    heap_block *const block = take(level);
    if (block == NULL) {
        return request_refused(HEAP_OUT_OF_MEMORY);
    }
    return request_served(block_payload(block), payload_bytes(level));
}

/** Moves an allocation's payload up to a multiple of `alignment`; the word before it leads back. */
static allocator_result align(allocator_result whole, uintptr_t alignment) {
    const uintptr_t own = (uintptr_t)whole.payload;
    const uintptr_t aligned = (own + alignment - 1u) & ~(alignment - 1u);
    if (aligned != own) {
        heap_block *const before = header_before((void *)aligned);
        mark(before, MARK_ALIGNED, (uint32_t)(aligned - own) / 8u);
        whole.payload = (void *)aligned;
        whole.usable_bytes -= aligned - own;
    }
    return whole;
}

allocator_result allocator_allocate_aligned(size_t size, size_t alignment) {
    PROBES = 0;
    REFUSE_OR_ALLOCATE(8u, REGION_BYTES);
    if (size > PAYLOAD_LIMIT || alignment > PAYLOAD_LIMIT) {
        return request_refused(HEAP_OUT_OF_MEMORY);
    }
    const allocator_result whole = allocator_allocate(size + alignment - 8u);
    return whole.status == HEAP_OK ? align(whole, alignment) : whole;
}

/* Checking and freeing */

/** The block of a payload, which may be an aligned one within it. */
static heap_block *block_of(const void *payload) {
    heap_block *const before = header_before(payload);
    if (before->header.mark != MARK_ALIGNED) {
        return before;
    }
    return header_before((const uint8_t *)payload - 8u * before->header.value);
}

/** True if a header could lie at `block`, which may be any address: nothing is read there. */
static bool is_possible(const void *block) {
    const uintptr_t offset = (uintptr_t)block - (uintptr_t)BASE;
    return offset < (uintptr_t)HEAP.units * BUDDY_UNIT_BYTES && offset % 8u == 0;
}

/** True if a block of the level in its header may begin where `block` lies. */
static bool is_sound(const heap_block *block) {
    const uint32_t unnumbered = first_number() * BUDDY_UNIT_BYTES; /* bytes ahead of the first */
    const uint32_t offset = unnumbered + (uint32_t)((const uint8_t *)block - BASE);
    const uint32_t level = block->header.value;
    return level < BUDDY_LEVELS && offset % block_bytes(level) == 0 &&
           offset + block_bytes(level) <= unnumbered + HEAP.units * BUDDY_UNIT_BYTES;
}

static heap_status judge_free(const void *payload) {
    REFUSE_NO_PAYLOAD(payload);
    if (!is_possible(header_before(payload)) || !is_possible(block_of(payload))) {
        return HEAP_FOREIGN;
    }
    const heap_block *const block = block_of(payload);
    if (block->header.mark == MARK_FREE || block->header.mark == MARK_MERGED) {
        return HEAP_DOUBLE_FREE;
    }
    if (block->header.mark != MARK_LIVE) {
        return HEAP_FOREIGN;
    }
    return is_sound(block) ? HEAP_OK : HEAP_CORRUPT;
}

heap_status allocator_free(void *payload) {
    PROBES = 0;
    const heap_status status = judge_free(payload);
    if (status != HEAP_OK) {
        return status;
    }
    heap_block *const block = block_of(payload);
    heap_block *const before = header_before(payload);
    if (before != block) {
        mark(before, MARK_MERGED, 0); /* a second free of it must not lead to the block */
    }
    merge_and_file(block, block->header.value);
    return HEAP_OK;
}

/* Reallocation */

/**
 * Makes a live block smaller, if it can be halved. An aligned payload that is large enough stays
 * where it is and keeps its block.
 */
allocator_result allocator_reallocate(void *payload, size_t size) {
    PROBES = 0;
    REFUSE_UNLESS_OK(judge_free(payload));
    const uint32_t usable_bytes = (uint32_t)allocator_usable_size(payload);
    if (size != 0 && size <= usable_bytes) {
        heap_block *const block = block_of(payload);
        if (payload == block_payload(block)) {
            const uint32_t wanted = level_for((uint32_t)size);
            halve(block, block->header.value, wanted);
            mark(block, MARK_LIVE, wanted);
            return request_served(payload, payload_bytes(wanted));
        }
        return request_served(payload, usable_bytes);
    }
    const allocator_result moved = allocator_allocate(size);
    if (moved.status == HEAP_OK) {
        const uint32_t probes = PROBES;
        memcpy(moved.payload, payload, usable_bytes);
        (void)allocator_free(payload);
        PROBES = probes;
    }
    return moved;
}

/* Figures */

const allocator_overhead_bytes allocator_overhead = {
    .heap = BASE_OFFSET + (TAILSCOPE_HEAP_BYTES - BASE_OFFSET) % BUDDY_UNIT_BYTES,
    .block = BUDDY_HEADER_BYTES,
    .smallest_block = BUDDY_UNIT_BYTES,
};
const size_t allocator_largest_alignment = LARGEST_ALIGNMENT;

size_t allocator_usable_size(const void *payload) {
    const bool live = payload != NULL && judge_free(payload) == HEAP_OK;
    if (!live) {
        return 0;
    }
    const heap_block *const block = block_of(payload);
    return payload_bytes(block->header.value) -
           (size_t)((const uint8_t *)payload - (uint8_t *)block_payload(block));
}

size_t allocator_free_bytes(void) {
    return HEAP.free_bytes;
}

size_t allocator_largest_free_block(void) {
    for (uint32_t level = BUDDY_LEVELS; level > 0; level--) {
        if (HEAP.lists[level - 1u] != NULL) {
            return payload_bytes(level - 1u);
        }
    }
    return 0;
}

allocator_free_space allocator_read_free(void) {
    allocator_free_space space = {.bytes = HEAP.free_bytes};
    for (uint32_t level = BUDDY_LEVELS; level > 0; level--) {
        for (const heap_block *block = HEAP.lists[level - 1u]; block != NULL;
             block = free_list_links(block)->next) {
            space.blocks++;
            space.smallest_block = payload_bytes(level - 1u);
            free_space_note_largest(&space, space.smallest_block);
        }
    }
    return space;
}

allocator_extent allocator_extent_of(const void *payload) {
    const heap_block *const block = block_of(payload);
    const uint32_t level = block->header.value;
    return extent_around(block_payload(block), BUDDY_HEADER_BYTES, payload_bytes(level));
}

LARGEST_EXTENT_BY_WALK

uint32_t allocator_probes(void) {
    return PROBES;
}

/** Walks the list of `level`, adding its length to `*filed`; false if a link leads astray. */
static bool list_check(uint32_t level, uint32_t *filed) {
    const heap_block *previous = NULL;
    for (const heap_block *block = HEAP.lists[level]; block != NULL;
         block = free_list_links(block)->next) {
        const bool sound = is_possible(block) && is_free_at(block, level) && is_sound(block) &&
                           free_list_links(block)->previous == previous && *filed < HEAP.units;
        if (!sound) {
            return false;
        }
        previous = block;
        (*filed)++;
    }
    return true;
}

bool allocator_check(void) {
    uint32_t free_blocks = 0;
    uint32_t free_bytes = 0;
    uint32_t number = first_number();
    while (number < first_number() + HEAP.units) {
        const heap_block *const block = block_at(number);
        const bool is_free = block->header.mark == MARK_FREE;
        if (!(is_free || block->header.mark == MARK_LIVE) || !is_sound(block)) {
            return false;
        }
        const uint32_t level = block->header.value;
        if (is_free && is_free_at(buddy_of(number, level), level)) {
            return false;
        }
        free_blocks += is_free;
        free_bytes += is_free ? payload_bytes(level) : 0;
        number += 1u << level;
    }
    uint32_t filed = 0;
    for (uint32_t level = 0; level < BUDDY_LEVELS; level++) {
        if (!list_check(level, &filed)) {
            return false;
        }
    }
    return filed == free_blocks && free_bytes == HEAP.free_bytes;
}
