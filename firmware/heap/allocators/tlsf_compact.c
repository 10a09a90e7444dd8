/**
 * TLSF with a header of one word, the layout that M. Conte's implementation made popular. A live
 * block is its size and its payload. Only a free block tells the block behind it where it begins:
 * in its own last word, which is payload while the block is live. A bit in the size of the block
 * behind says whether that word is there.
 *
 *      live                                      free
 *     +------------+------------------------+   +------------+------+----------+-----+-------+
 *     | size, bits | payload                |   | size, bits | next | previous |     | begin |
 *     +------------+------------------------+   +------------+------+----------+-----+-------+
 *                   8-aligned
 *
 * Sizes are those of whole blocks, header included. They are multiples of 8, at least 16. The
 * search is that of indexes/tlsf.c, on another format: 12 bytes less for each block, and no magic
 * word. So a free is refused only if the pointer is NULL, misaligned or outside the region, or if
 * the header says that the block is free. A pointer into a payload is not told from a block.
 *
 * Bound: each operation is two look-ups in bitmaps, at most three blocks taken out or filed, and no
 * loop.
 *
 * Probes: 1 if the request's own octave has a block, 2 if the search had to climb to a higher one.
 */
#include <string.h>

#include "region.h"
#include "request.h"
#include "tlsf_slots.h"

#define HEADER_BYTES 4u
/* From the first block's header to the sentinel's. */
#define BLOCKS_BYTES (REGION_BYTES - 2u * HEADER_BYTES)
#define SMALLEST_BYTES 16u   /* header, two links, begin */
#define BIT_FREE 1u          /* this block is free */
#define BIT_PREVIOUS_FREE 2u /* so is the one before: its begin lies right before this header */
#define BITS (BIT_FREE | BIT_PREVIOUS_FREE)

/* Tells the compiler to lay the longest path straight. A jump costs the flash a line, and the
 * longest path is the bound. */
#define LONGEST(condition) __builtin_expect(condition, 1)

_Static_assert(sizeof(void *) == 4, "for 32-bit machines; on a PC compile with -m32");

typedef struct block {
    uint32_t size_and_bits;
    struct block *next;     /* this and what follows: only of a free block */
    struct block *previous; /* NULL for the head of a list */
} block;

static struct {
    uint8_t *first; /* header of the region's first block */
    uint8_t *end;   /* header of the sentinel: a live block of no size */
    uint32_t free_bytes;
    uint32_t probes;
    uint32_t octave_map;         /* bit o: octave o has a block */
    uint32_t slot_maps[OCTAVES]; /* bit s of word o: slot s of octave o has a block */
    block *lists[OCTAVES][SLOTS];
} heap;

/* Headers */

static uint32_t size_of(const block *of) {
    return of->size_and_bits & ~BITS;
}

static bool is_free(const block *of) {
    return (of->size_and_bits & BIT_FREE) != 0;
}

static bool previous_is_free(const block *of) {
    return (of->size_and_bits & BIT_PREVIOUS_FREE) != 0;
}

static void *payload_of(const block *of) {
    return (uint8_t *)(uintptr_t)of + HEADER_BYTES;
}

static block *header_of(const void *payload) {
    return (block *)((uintptr_t)payload - HEADER_BYTES);
}

static block *behind(const block *of) {
    return (block *)((uintptr_t)of + size_of(of));
}

/** The word right before a block: where the block before it begins, if that is free. */
static block **begin_before(const block *of) {
    return (block **)((uintptr_t)of - sizeof(block *));
}

/* Free blocks */

/**
 * Makes `of` a free block of `size` bytes, tells the block behind it, and files it. No neighbour is
 * free.
 */
static inline __attribute__((always_inline)) void file(block *of, uint32_t size) {
    of->size_and_bits = size | BIT_FREE;
    block *const after = behind(of);
    *begin_before(after) = of;
    after->size_and_bits |= BIT_PREVIOUS_FREE;

    const position at = position_of(size);
    block *const second = heap.lists[at.octave][at.slot];
    of->next = second;
    of->previous = NULL;
    if (second != NULL) {
        second->previous = of;
    }
    heap.lists[at.octave][at.slot] = of;
    heap.slot_maps[at.octave] |= 1u << at.slot;
    heap.octave_map |= 1u << at.octave;
}

/** As file(), of bytes that were not free before. */
static inline __attribute__((always_inline)) void give(block *of, uint32_t size) {
    heap.free_bytes += size - HEADER_BYTES;
    file(of, size);
}

/** `next` is what follows in a list whose head is taken out. */
static inline void set_head(position at, block *next) {
    heap.lists[at.octave][at.slot] = next;
    if (LONGEST(next == NULL)) {
        heap.slot_maps[at.octave] &= ~(1u << at.slot);
        if (LONGEST(heap.slot_maps[at.octave] == 0)) {
            heap.octave_map &= ~(1u << at.octave);
        }
    } else {
        next->previous = NULL;
    }
}

static inline __attribute__((always_inline)) void take_out(block *of) {
    HEAP_REQUIRE(is_free(of) && *begin_before(behind(of)) == of);
    HEAP_REQUIRE(of->next == NULL || of->next->previous == of);
    if (LONGEST(of->previous == NULL)) {
        set_head(position_of(size_of(of)), of->next);
        return;
    }
    HEAP_REQUIRE(of->previous->next == of);
    of->previous->next = of->next;
    if (of->next != NULL) {
        of->next->previous = of->previous;
    }
}

/**
 * Finds the first list that is not empty and in which every block has `size` bytes; false if there
 * is none.
 */
static inline bool find(uint32_t size, position *found) {
    *found = position_that_fits(size);
    heap.probes = 1;
    if (found->octave >= OCTAVES) {
        return false;
    }
    uint32_t slots = heap.slot_maps[found->octave] & (UINT32_MAX << found->slot);
    if (slots == 0) {
        heap.probes = 2;
        const uint32_t octaves = heap.octave_map & (UINT32_MAX << (found->octave + 1u));
        if (octaves == 0) {
            return false;
        }
        found->octave = lowest_bit(octaves);
        slots = heap.slot_maps[found->octave];
    }
    found->slot = lowest_bit(slots);
    return true;
}

/** Frees `of`, merged with the blocks behind and before it if they are free. */
static inline __attribute__((always_inline)) void merge_and_file(block *of) {
    uint32_t size = size_of(of);
    uint32_t gained_bytes =
        size - HEADER_BYTES; /* and a header for each block that this makes one with another */
    block *const after = behind(of);
    if (LONGEST(is_free(after))) {
        take_out(after);
        size += size_of(after);
        gained_bytes += HEADER_BYTES;
    }
    if (LONGEST(previous_is_free(of))) {
        block *const before = *begin_before(of);
        take_out(before);
        of->size_and_bits |= BIT_FREE; /* so that a second free of it is told */
        size += size_of(before);
        gained_bytes += HEADER_BYTES;
        of = before;
    }
    heap.free_bytes += gained_bytes;
    file(of, size);
}

/* Allocation */

void allocator_init(void *region, size_t bytes) {
    HEAP_REQUIRE((uintptr_t)region % 8u == 0 && bytes == REGION_BYTES);
    HEAP_REQUIRE(bytes % 8u == 0 && bytes >= 2u * HEADER_BYTES + SMALLEST_BYTES);
    memset(&heap, 0, sizeof heap);
    heap.first = (uint8_t *)region + HEADER_BYTES; /* so that payloads are 8-aligned */
    heap.end = (uint8_t *)region + bytes - HEADER_BYTES;
    block *const sentinel = (block *)(void *)heap.end;
    sentinel->size_and_bits = 0;
    give((block *)(void *)heap.first, BLOCKS_BYTES);
}

static allocator_result hand_out(const block *of) {
    return request_served(payload_of(of), size_of(of) - HEADER_BYTES);
}

/** What a request takes of the region. */
static uint32_t block_size(size_t size) {
    const uint32_t rounded = ((uint32_t)size + HEADER_BYTES + 7u) & ~7u;
    return rounded < SMALLEST_BYTES ? SMALLEST_BYTES : rounded;
}

/**
 * Makes `of`, `has` bytes in no list, a live block of `size`, and frees the rest if it is enough
 * for a block.
 */
static allocator_result make_live(block *of, uint32_t has, uint32_t size) {
    const uint32_t before = of->size_and_bits & BIT_PREVIOUS_FREE;
    const bool split = has - size >= SMALLEST_BYTES;
    of->size_and_bits = (split ? size : has) | before;
    block *const after = behind(of);
    if (split) {
        give(after, has - size);
    } else {
        after->size_and_bits &= ~BIT_PREVIOUS_FREE;
    }
    return hand_out(of);
}

/** A free block of at least `size` bytes, out of its list; or NULL. */
static inline block *take(uint32_t size) {
    position at;
    if (!find(size, &at)) {
        return NULL;
    }
    block *const head = heap.lists[at.octave][at.slot];
    set_head(at, head->next);
    heap.free_bytes -= size_of(head) - HEADER_BYTES;
    return head;
}

allocator_result allocator_allocate(size_t size) {
    heap.probes = 0;
    /* As request_judge() says, but written so that the compiler makes the longest path shorter. */
    if (size == 0) {
        return request_refused(HEAP_ZERO_SIZE);
    }
    if (size > REGION_BYTES) {
        return request_refused(HEAP_OUT_OF_MEMORY);
    }
    block *const found = take(block_size(size));
    return found != NULL ? make_live(found, size_of(found), block_size(size))
                         : request_refused(HEAP_OUT_OF_MEMORY);
}

/**
 * The first aligned payload in `of` before which nothing lies, or enough for a block of its own.
 */
static uintptr_t aligned_payload(const block *of, uintptr_t alignment) {
    const uintptr_t own = (uintptr_t)payload_of(of);
    return (own & (alignment - 1u)) == 0
               ? own
               : (own + SMALLEST_BYTES + alignment - 1u) & ~(alignment - 1u);
}

allocator_result allocator_allocate_aligned(size_t size, size_t alignment) {
    heap.probes = 0;
    REFUSE_OR_ALLOCATE(8u, REGION_BYTES);
    block *const found = take(block_size(size) + SMALLEST_BYTES + (uint32_t)alignment - 8u);
    if (found == NULL) {
        return request_refused(HEAP_OUT_OF_MEMORY);
    }
    const uint32_t has = size_of(found);
    block *const aligned = header_of((void *)aligned_payload(found, alignment));
    const uint32_t front = (uint32_t)((uintptr_t)aligned - (uintptr_t)found);
    if (front > 0) {
        aligned->size_and_bits = 0;
        give(found, front);
    }
    return make_live(aligned, has - front, block_size(size));
}

/* Freeing */

static heap_status judge_free(const void *payload) {
    REFUSE_NO_PAYLOAD(payload);
    const uintptr_t offset = (uintptr_t)header_of(payload) - (uintptr_t)heap.first;
    if (offset >= BLOCKS_BYTES) {
        return HEAP_FOREIGN;
    }
    return is_free(header_of(payload)) ? HEAP_DOUBLE_FREE : HEAP_OK;
}

heap_status allocator_free(void *payload) {
    heap.probes = 0;
    const heap_status status = judge_free(payload);
    if (status == HEAP_OK) {
        merge_and_file(header_of(payload));
    }
    return status;
}

/* Reallocation */

allocator_result allocator_reallocate(void *payload, size_t size) {
    heap.probes = 0;
    REFUSE_UNLESS_OK(judge_free(payload));
    REFUSE_UNLESS_OK(request_judge(size, REGION_BYTES));
    block *const of = header_of(payload);
    block *const after = behind(of);
    const uint32_t has = size_of(of) + (is_free(after) ? size_of(after) : 0);
    if (has < block_size(size)) {
        const allocator_result moved = allocator_allocate(size);
        if (moved.status == HEAP_OK) {
            memcpy(moved.payload, payload, size_of(of) - HEADER_BYTES);
            merge_and_file(of);
        }
        return moved;
    }
    if (is_free(after)) {
        take_out(after);
        heap.free_bytes -= size_of(after) - HEADER_BYTES;
    }
    return make_live(of, has, block_size(size));
}

/* Figures */

const allocator_overhead_bytes allocator_overhead = {
    .heap = 2u * HEADER_BYTES, /* before the first block, and the sentinel */
    .block = HEADER_BYTES,
    .smallest_block = SMALLEST_BYTES,
};
const size_t allocator_largest_alignment = ANY_ALIGNMENT;

size_t allocator_usable_size(const void *payload) {
    return judge_free(payload) == HEAP_OK ? size_of(header_of(payload)) - HEADER_BYTES : 0;
}

size_t allocator_free_bytes(void) {
    return heap.free_bytes;
}

/** In 8 bytes, header included. */
static bool is_found(uint32_t units) {
    position at;
    return find(units * 8u, &at);
}

/** The search rounds a request up, so the size of the largest block is not the answer. */
size_t allocator_largest_free_block(void) {
    const uint32_t probes = heap.probes;
    const uint32_t least = SMALLEST_BYTES / 8u;
    const uint32_t above = (uint32_t)(heap.end - heap.first) / 8u + 1u;
    const uint32_t fits = request_bisect(least - 1u, above, is_found);
    heap.probes = probes;
    return fits * 8u < SMALLEST_BYTES ? 0 : fits * 8u - HEADER_BYTES;
}

allocator_free_space allocator_read_free(void) {
    allocator_free_space space = {.bytes = heap.free_bytes};
    const block *of = (const block *)(void *)heap.first;
    for (; (const uint8_t *)of < heap.end && size_of(of) != 0; of = behind(of)) {
        const size_t payload_bytes = size_of(of) - HEADER_BYTES;
        if (is_free(of)) {
            const bool smallest = space.blocks == 0 || payload_bytes < space.smallest_block;
            space.smallest_block = smallest ? payload_bytes : space.smallest_block;
            free_space_note_largest(&space, payload_bytes);
            space.blocks++;
        }
    }
    return space;
}

EXTENT_BY_HEADER

LARGEST_EXTENT_BY_WALK

uint32_t allocator_probes(void) {
    return heap.probes;
}

/* Checking */

/**
 * True if a block of a sound size lies at `of` (any address) and its bits agree with
 * `follows_free`.
 */
static bool header_is_sound(const block *of, bool follows_free) {
    const uintptr_t offset = (uintptr_t)of - (uintptr_t)heap.first;
    const uintptr_t room = (uintptr_t)(heap.end - heap.first) - offset;
    return offset % 8u == 0 && offset < (uintptr_t)(heap.end - heap.first) &&
           size_of(of) % 8u == 0 && size_of(of) >= SMALLEST_BYTES && size_of(of) <= room &&
           previous_is_free(of) == follows_free;
}

/** Walks one list, adding its length to `*filed`; false if a block in it does not belong there. */
static bool list_check(uint32_t octave, uint32_t slot, uint32_t *filed) {
    const block *previous = NULL;
    for (const block *of = heap.lists[octave][slot]; of != NULL; of = of->next) {
        if (!header_is_sound(of, false) || !is_free(of) || of->previous != previous) {
            return false;
        }
        const position at = position_of(size_of(of));
        if (at.octave != octave || at.slot != slot || ++*filed > REGION_BYTES / SMALLEST_BYTES) {
            return false;
        }
        previous = of;
    }
    return true;
}

static bool lists_check(uint32_t free_blocks) {
    uint32_t filed = 0;
    for (uint32_t octave = 0; octave < OCTAVES; octave++) {
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            const bool mapped = (heap.slot_maps[octave] >> slot & 1u) != 0;
            if (mapped != (heap.lists[octave][slot] != NULL) || !list_check(octave, slot, &filed)) {
                return false;
            }
        }
        if ((heap.octave_map >> octave & 1u) != (heap.slot_maps[octave] != 0)) {
            return false;
        }
    }
    return filed == free_blocks;
}

bool allocator_check(void) {
    uint32_t free_blocks = 0;
    uint32_t free_bytes = 0;
    const block *previous_free = NULL;
    const block *of = (const block *)(void *)heap.first;
    while ((const uint8_t *)of < heap.end) {
        if (!header_is_sound(of, previous_free != NULL)) {
            return false;
        }
        if (previous_free != NULL && (is_free(of) || *begin_before(of) != previous_free)) {
            return false;
        }
        previous_free = is_free(of) ? of : NULL;
        free_blocks += is_free(of);
        free_bytes += is_free(of) ? size_of(of) - HEADER_BYTES : 0;
        of = behind(of);
    }
    const block *const sentinel = (const block *)(void *)heap.end;
    const uint32_t bits = previous_free != NULL ? BIT_PREVIOUS_FREE : 0;
    return sentinel->size_and_bits == bits &&
           (previous_free == NULL || *begin_before(sentinel) == previous_free) &&
           free_bytes == heap.free_bytes && lists_check(free_blocks);
}

ALLOCATOR_NAME
