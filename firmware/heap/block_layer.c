/**
 * The block layer: an allocator (allocator.h) that owns headers, splitting, coalescing and the
 * checking of frees. It leaves to an index (index.h) where free blocks are filed. Two free blocks
 * are never neighbours.
 */

#include <string.h>

#include "index.h"
#include "request.h"

static struct {
    heap_block *first;
    uint8_t *end;   /* where a block behind the last would begin */
    uint32_t bytes; /* of the region */
    uint32_t free_bytes;
    uint32_t probes;
} layer;

/* Headers */

static heap_block *header_of(const void *payload) {
    return (heap_block *)((uintptr_t)payload - sizeof(heap_block));
}

/** The physically following block, or NULL at the region's end. */
static heap_block *block_after(const heap_block *block) {
    uint8_t *const after = (uint8_t *)block_payload(block) + block_size(block) - BLOCK_SHARED_BYTES;
    return after < layer.end ? (heap_block *)(void *)after : NULL;
}

/** Writes a header of unknown status and tells the block behind it. */
static heap_block *place_header(void *at, uint32_t size, heap_block *prev) {
    heap_block *const block = at;
    format_write(block, size, prev);
    heap_block *const after = block_after(block);
    if (after != NULL) {
        format_follow(after, block);
    }
    return block;
}

/** Ends `block` after `size` bytes of payload and returns the block that begins there. */
static heap_block *cut(heap_block *block, uint32_t size) {
    const uint32_t rest = block_size(block) - size - BLOCK_HEADER_BYTES;
    format_resize(block, size);
    uint8_t *const behind = (uint8_t *)block_payload(block) + size - BLOCK_SHARED_BYTES;
    return place_header(behind, rest, block);
}

/** Makes `after`, the block behind `block`, part of it. */
static void merge(heap_block *block, heap_block *after) {
    format_set_merged(after);
    format_resize(block, block_size(block) + BLOCK_HEADER_BYTES + block_size(after));
    heap_block *const behind = block_after(block);
    if (behind != NULL) {
        format_follow(behind, block);
    }
}

/* Free blocks */

static inline bool header_is_sound(const heap_block *block);

static void give_to_index(heap_block *block) {
    format_set_free(block, block_after(block));
    layer.free_bytes += block_size(block);
    heap_index_insert(block);
}

static void take_from_index(heap_block *block) {
    HEAP_REQUIRE(header_is_sound(block) && block_is_free(block));
    heap_index_remove(block);
    layer.free_bytes -= block_size(block);
}

/** Gives back what `block` has above `size`, if that is enough for a block of its own. */
static void split_rest(heap_block *block, uint32_t size) {
    if (block_size(block) - size >= BLOCK_HEADER_BYTES + BLOCK_SMALLEST_PAYLOAD) {
        give_to_index(cut(block, size));
    }
}

/**
 * Gives back what lies before `payload`, an address inside `block`; returns the block of `payload`.
 */
static heap_block *split_front(heap_block *block, uintptr_t payload) {
    const uint32_t front = (uint32_t)(payload - (uintptr_t)block_payload(block));
    if (front == 0) {
        return block;
    }
    heap_block *const aligned = cut(block, front - BLOCK_HEADER_BYTES);
    give_to_index(block);
    return aligned;
}

static heap_block *coalesce(heap_block *block) {
    heap_block *const after = block_after(block);
    if (after != NULL && block_is_free(after)) {
        take_from_index(after);
        merge(block, after);
    }
    heap_block *const before = format_before(block);
    if (before != NULL && block_is_free(before)) {
        take_from_index(before);
        merge(before, block);
        return before;
    }
    return block;
}

/* Allocation */

void allocator_init(void *region, size_t bytes) {
    HEAP_REQUIRE((uintptr_t)region % BLOCK_ALIGNMENT == 0 && bytes % BLOCK_ALIGNMENT == 0);
    HEAP_REQUIRE(bytes >=
                 BLOCK_REGION_OVERHEAD_BYTES + BLOCK_HEADER_BYTES + BLOCK_SMALLEST_PAYLOAD);
    /* Zeroed, so that no header of an earlier heap is taken for a block of this one. */
    memset(region, 0, bytes);
    layer.first = region;
    layer.bytes = (uint32_t)bytes;
    layer.end = (uint8_t *)region + bytes - BLOCK_REGION_OVERHEAD_BYTES;
    layer.free_bytes = 0;
    layer.probes = 0;
    heap_index_reset();
    const uint32_t taken = BLOCK_REGION_OVERHEAD_BYTES + BLOCK_HEADER_BYTES;
    give_to_index(place_header(region, (uint32_t)bytes - taken, NULL));
}

/** The payload of a request: a block must be able to hold what its index needs once it is freed. */
static uint32_t round_up(size_t size) {
    const uint32_t beyond = BLOCK_ALIGNMENT - 1u - BLOCK_SHARED_BYTES;
    const uint32_t rounded =
        (((uint32_t)size + beyond) & ~(BLOCK_ALIGNMENT - 1u)) + BLOCK_SHARED_BYTES;
    const bool can_be_too_small = BLOCK_SMALLEST_PAYLOAD > BLOCK_ALIGNMENT;
    return can_be_too_small && rounded < BLOCK_SMALLEST_PAYLOAD ? BLOCK_SMALLEST_PAYLOAD : rounded;
}

/** A free block of at least `size` bytes, taken out of the index, or NULL. */
static heap_block *take(uint32_t size) {
    heap_block *const block = heap_index_find(size, &layer.probes);
    if (block != NULL) {
        take_from_index(block);
    }
    return block;
}

static allocator_result hand_out(heap_block *block, uint32_t size) {
    format_set_live(block, block_after(block));
    split_rest(block, size);
    return request_served(block_payload(block), block_size(block));
}

allocator_result allocator_allocate(size_t size) {
    layer.probes = 0;
    REFUSE_UNLESS_OK(request_judge(size, layer.bytes));
    const uint32_t rounded = round_up(size);
    heap_block *const found = take(rounded);
    return found != NULL ? hand_out(found, rounded) : request_refused(HEAP_OUT_OF_MEMORY);
}

/**
 * The first aligned payload in `block` before which nothing lies, or enough for a block of its own.
 */
static uintptr_t aligned_payload(const heap_block *block, uintptr_t alignment) {
    const uintptr_t payload = (uintptr_t)block_payload(block);
    if ((payload & (alignment - 1u)) == 0) {
        return payload;
    }
    const uintptr_t smallest_front = BLOCK_HEADER_BYTES + BLOCK_SMALLEST_PAYLOAD;
    return (payload + smallest_front + alignment - 1u) & ~(alignment - 1u);
}

allocator_result allocator_allocate_aligned(size_t size, size_t alignment) {
    layer.probes = 0;
    REFUSE_OR_ALLOCATE(BLOCK_ALIGNMENT, layer.bytes);
    /* At worst a whole block and all but 8 bytes of an alignment lie before the payload. */
    const uint32_t rounded = round_up(size);
    const uint32_t front =
        BLOCK_HEADER_BYTES + BLOCK_SMALLEST_PAYLOAD + (uint32_t)alignment - BLOCK_ALIGNMENT;
    heap_block *const found = take(rounded + front);
    if (found == NULL) {
        return request_refused(HEAP_OUT_OF_MEMORY);
    }
    return hand_out(split_front(found, aligned_payload(found, alignment)), rounded);
}

/* Checking */

bool block_address_is_possible(const void *address) {
    const uintptr_t offset = (uintptr_t)address - (uintptr_t)layer.first;
    return layer.bytes != 0 && offset % BLOCK_ALIGNMENT == 0 &&
           offset <= layer.bytes - BLOCK_REGION_OVERHEAD_BYTES - BLOCK_HEADER_BYTES -
                         BLOCK_SMALLEST_PAYLOAD;
}

/**
 * True if a header lies at `block` (any address) and makes sense by itself. A wrong size shows in
 * the block behind. Inline: each free checks three headers with interrupts masked, and the calls
 * alone took 50 cycles.
 */
static inline bool header_is_sound(const heap_block *block) {
    if (!block_address_is_possible(block)) {
        return false;
    }
    const uint32_t room =
        (uint32_t)(layer.end + BLOCK_SHARED_BYTES - (uint8_t *)block_payload(block));
    return block_has_header(block) && (block_is_live(block) || block_is_free(block)) &&
           block_size(block) >= BLOCK_SMALLEST_PAYLOAD && block_size(block) <= room;
}

/** True if the sound header of `block` and those of its neighbours agree on where they lie. */
static bool neighbours_agree(const heap_block *block) {
    const heap_block *const after = block_after(block);
    if (after != NULL && !(header_is_sound(after) && format_follows(after, block))) {
        return false;
    }
    const heap_block *const before = format_before(block);
    if (block == layer.first || before == NULL) {
        return format_says_none_before(block, layer.first) && before == NULL;
    }
    return header_is_sound(before) && format_can_be_before(before) && block_after(before) == block;
}

static heap_status judge_free(const void *payload) {
    REFUSE_NO_PAYLOAD(payload);
    const heap_block *const block = header_of(payload);
    if (!block_address_is_possible(block)) {
        return HEAP_FOREIGN;
    }
    if (!block_has_header(block)) {
        return block_was_merged(block) ? HEAP_DOUBLE_FREE : HEAP_FOREIGN;
    }
    if (!header_is_sound(block) || !neighbours_agree(block)) {
        return HEAP_CORRUPT;
    }
    return block_is_free(block) ? HEAP_DOUBLE_FREE : HEAP_OK;
}

heap_status allocator_free(void *payload) {
    layer.probes = 0;
    const heap_status status = judge_free(payload);
    if (status == HEAP_OK) {
        give_to_index(coalesce(header_of(payload)));
    }
    return status;
}

bool allocator_check(void) {
    uint32_t free_blocks = 0;
    uint32_t free_bytes = 0;
    bool previous_is_free = false;
    for (const heap_block *block = layer.first; block != NULL; block = block_after(block)) {
        if (!header_is_sound(block) || !neighbours_agree(block)) {
            return false;
        }
        const bool is_free = block_is_free(block);
        if (is_free && previous_is_free) {
            return false;
        }
        if (is_free) {
            free_blocks++;
            free_bytes += block_size(block);
        }
        previous_is_free = is_free;
    }
    return free_bytes == layer.free_bytes && heap_index_check(free_blocks);
}

/* Reallocation */

/** Gives back what the live `block` has above `size`, together with a free block behind it. */
static allocator_result trim(heap_block *block, uint32_t size) {
    if (block_size(block) - size >= BLOCK_HEADER_BYTES + BLOCK_SMALLEST_PAYLOAD) {
        give_to_index(coalesce(cut(block, size)));
    }
    return request_served(block_payload(block), block_size(block));
}

/**
 * True if `block` holds `size` bytes, after it took in a free block behind it if that was needed
 * and enough.
 */
static bool fits_in_place(heap_block *block, uint32_t size) {
    if (block_size(block) >= size) {
        return true;
    }
    heap_block *const after = block_after(block);
    const bool enough = after != NULL && block_is_free(after) &&
                        block_size(block) + BLOCK_HEADER_BYTES + block_size(after) >= size;
    if (enough) {
        take_from_index(after);
        merge(block, after);
    }
    return enough;
}

static allocator_result move(heap_block *block, uint32_t size) {
    heap_block *const found = take(size);
    if (found == NULL) {
        return request_refused(HEAP_OUT_OF_MEMORY);
    }
    const allocator_result moved = hand_out(found, size);
    memcpy(moved.payload, block_payload(block), block_size(block));
    give_to_index(coalesce(block));
    return moved;
}

allocator_result allocator_reallocate(void *payload, size_t size) {
    layer.probes = 0;
    REFUSE_UNLESS_OK(judge_free(payload));
    REFUSE_UNLESS_OK(request_judge(size, layer.bytes));
    const uint32_t rounded = round_up(size);
    heap_block *const block = header_of(payload);
    return fits_in_place(block, rounded) ? trim(block, rounded) : move(block, rounded);
}

/* Figures */

const allocator_overhead_bytes allocator_overhead = {
    .heap = BLOCK_REGION_OVERHEAD_BYTES,
    .block = BLOCK_HEADER_BYTES,
    .smallest_block = BLOCK_HEADER_BYTES + BLOCK_SMALLEST_PAYLOAD,
};
const size_t allocator_largest_alignment = ANY_ALIGNMENT;

size_t allocator_usable_size(const void *payload) {
    const heap_block *const block = header_of(payload);
    const bool live =
        block_address_is_possible(block) && block_has_header(block) && block_is_live(block);
    return live ? block_size(block) : 0;
}

size_t allocator_free_bytes(void) {
    return layer.free_bytes;
}

static bool is_served(uint32_t units) {
    uint32_t probes;
    return heap_index_find(round_up(units * BLOCK_ALIGNMENT), &probes) != NULL;
}

/** An index may round a request up, so the size of the largest block is not the answer. */
size_t allocator_largest_free_block(void) {
    const uint32_t fits = request_bisect(0, layer.bytes / BLOCK_ALIGNMENT, is_served);
    return fits == 0 ? 0 : fits * BLOCK_ALIGNMENT + BLOCK_SHARED_BYTES;
}

allocator_free_space allocator_read_free(void) {
    allocator_free_space space = {0};
    for (const heap_block *block = layer.first; header_is_sound(block);
         block = block_after(block)) {
        if (block_is_free(block)) {
            free_space_add(&space, block_size(block));
        }
    }
    return space;
}

EXTENT_BY_HEADER

LARGEST_EXTENT_BY_WALK

uint32_t allocator_probes(void) {
    return layer.probes;
}

const char *allocator_name(void) {
    return heap_index_name();
}
