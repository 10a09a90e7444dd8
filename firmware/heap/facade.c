/**
 * The facade (heap.h). Each operation has one critical section, and its markers stand right inside
 * the lock: they measure how long others are held off. The book-keeping lies inside too, because it
 * must be consistent. It takes the same few steps for every allocator.
 */

#include "allocator.h"
#include "port.h"
#include "require.h"

_Static_assert(TAILSCOPE_HEAP_BYTES % 8 == 0, "TAILSCOPE_HEAP_BYTES must be a multiple of 8");
_Static_assert(TAILSCOPE_HEAP_BYTES >= 64, "TAILSCOPE_HEAP_BYTES must be at least 64");

/* Has a name, for allocators that are linked with their region. Aligned to 16 so that no allocator
 * loses bytes by where the region lies. */
_Alignas(16) uint8_t heap_region[TAILSCOPE_HEAP_BYTES];

static struct {
    size_t bytes_in_use;
    size_t minimum_ever_free_bytes;
    size_t allocations;
    size_t frees;
} count;

static struct {
    heap_status status;
    uint32_t critical_cycles;
    uint32_t probes;
} last;

void heap_reset(void) {
    allocator_init(heap_region, sizeof heap_region);
    count.bytes_in_use = 0;
    count.minimum_ever_free_bytes = allocator_free_bytes();
    count.allocations = 0;
    count.frees = 0;
    last.status = HEAP_OK;
    last.critical_cycles = 0;
    last.probes = 0;
}

static void testify(heap_status status) {
    last.status = status;
    last.probes = allocator_probes();
}

static void note_free_bytes(void) {
    const size_t free_bytes = allocator_free_bytes();
    if (free_bytes < count.minimum_ever_free_bytes) {
        count.minimum_ever_free_bytes = free_bytes;
    }
}

static void book_allocation(allocator_result result) {
    testify(result.status);
    if (result.status == HEAP_OK) {
        count.allocations++;
        count.bytes_in_use += result.usable_bytes;
        note_free_bytes();
    }
}

static void book_reallocation(allocator_result result, size_t usable_bytes_before) {
    testify(result.status);
    if (result.status == HEAP_OK) {
        HEAP_REQUIRE(count.bytes_in_use >= usable_bytes_before);
        count.bytes_in_use += result.usable_bytes;
        count.bytes_in_use -= usable_bytes_before;
        note_free_bytes();
    }
}

static void book_free(heap_status status, size_t usable_bytes) {
    testify(status);
    if (status == HEAP_OK) {
        HEAP_REQUIRE(count.frees < count.allocations && usable_bytes <= count.bytes_in_use);
        count.frees++;
        count.bytes_in_use -= usable_bytes;
    }
}

typedef struct {
    uint32_t mask, begin_cycles;
} critical_section;

static inline critical_section enter(void) {
    const uint32_t mask = heap_port_lock();
    return (critical_section){mask, heap_port_critical_begin()};
}

static inline void leave(critical_section held) {
    last.critical_cycles = heap_port_critical_end() - held.begin_cycles;
    heap_port_unlock(held.mask);
}

void *heap_allocate(size_t size) {
    const critical_section held = enter();
    const allocator_result result = allocator_allocate(size);
    book_allocation(result);
    leave(held);
    return result.payload;
}

void *heap_allocate_aligned(size_t size, size_t alignment) {
    const critical_section held = enter();
    const allocator_result result = allocator_allocate_aligned(size, alignment);
    book_allocation(result);
    leave(held);
    return result.payload;
}

void *heap_reallocate(void *payload, size_t size) {
    if (payload == NULL) {
        return heap_allocate(size);
    }
    /* Before the lock, as in heap_free(). */
    const size_t usable_bytes = allocator_usable_size(payload);

    const critical_section held = enter();
    const allocator_result result = allocator_reallocate(payload, size);
    book_reallocation(result, usable_bytes);
    leave(held);
    return result.payload;
}

heap_status heap_free(void *payload) {
    /* Before the lock: while its caller owns the block, its size cannot change. */
    const size_t usable_bytes = allocator_usable_size(payload);

    const critical_section held = enter();
    const heap_status status = allocator_free(payload);
    book_free(status, usable_bytes);
    leave(held);
    return status;
}

heap_witness heap_last_operation(void) {
    return (heap_witness){
        .status = last.status,
        .critical_cycles = last.critical_cycles,
        .probes = last.probes,
        .live_blocks = count.allocations - count.frees,
        .bytes_in_use = count.bytes_in_use,
    };
}

heap_statistics heap_read_statistics(void) {
    const uint32_t mask = heap_port_lock();
    const allocator_free_space space = allocator_read_free();
    const heap_statistics statistics = {
        .live_blocks = count.allocations - count.frees,
        .bytes_in_use = count.bytes_in_use,
        .free_bytes = space.bytes,
        .free_blocks = space.blocks,
        .largest_free_block = allocator_largest_free_block(),
        .smallest_free_block = space.smallest_block,
        .minimum_ever_free_bytes = count.minimum_ever_free_bytes,
        .allocations = count.allocations,
        .frees = count.frees,
    };
    heap_port_unlock(mask);
    return statistics;
}

size_t heap_free_bytes(void) {
    return allocator_free_bytes();
}

size_t heap_minimum_ever_free_bytes(void) {
    return count.minimum_ever_free_bytes;
}

void heap_reset_minimum_ever_free(void) {
    const uint32_t mask = heap_port_lock();
    count.minimum_ever_free_bytes = allocator_free_bytes();
    heap_port_unlock(mask);
}

bool heap_check(void) {
    const uint32_t mask = heap_port_lock();
    const bool holds = allocator_check();
    heap_port_unlock(mask);
    return holds;
}

const char *heap_allocator_name(void) {
#ifdef TAILSCOPE_ALLOCATOR_NAME /* from outside: the bench calls it so */
    return TAILSCOPE_ALLOCATOR_NAME;
#else
    return allocator_name();
#endif
}

const char *heap_knobs(void) {
    return sizeof TAILSCOPE_KNOBS > 1 ? TAILSCOPE_KNOBS : "none";
}

const char *heap_locking(void) {
    return heap_port_locking();
}

size_t heap_region_bytes(void) {
    return sizeof heap_region;
}
