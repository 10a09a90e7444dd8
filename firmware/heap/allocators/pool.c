/**
 * Pools of fixed blocks, as kernels have them (k_mem_slab, block pools, memory partitions), behind
 * the heap's interface. Each size class has a pool: an array of equal blocks, and a LIFO list of
 * those that are free. A free block holds the link to the next. A live one holds nothing of ours,
 * since its address says in which pool it lies.
 *
 * A request takes the smallest block that holds it. If that pool is empty, it takes a block of the
 * next pool above that has one; the bitmap tells which. So a request fails only if no free block
 * would hold it. Blocks are never split or merged: what a pool has is fixed by its share of the
 * region, below. Yours depends on your program.
 *
 * Bound: an allocation has no loop, a free passes at most one limit for each pool.
 *
 * Probes: the bitmap counts one.
 *
 * A free is refused if no block begins there. A second free is not seen: to tell it apart, each
 * block would need a mark.
 */

#include "region.h"
#include "request.h"

enum { POOLS = 9, SMALLEST_BYTES = 16, LARGEST_BYTES = SMALLEST_BYTES << (POOLS - 1), SHARES = 64 };

/** How the region is shared out: sixty-fourths for blocks of 16, 32, 64 … 4,096 bytes. In 64 KiB
 * that serves mem_stress (48 live blocks) and mem_frag (256 pairs of 8 and 72 bytes). */
static const uint8_t shares[POOLS] = {4, 1, 2, 33, 4, 4, 8, 4, 4};

typedef struct pool_block {
    struct pool_block *next;
} pool_block;

static struct {
    uint32_t region_bytes; /* 0 without a heap */
    uint32_t free_bytes;
    uint32_t probes;
    uint32_t not_empty;     /* bit k: pool k has a free block */
    uintptr_t begin[POOLS]; /* of each pool; it ends where the one before begins */
    uintptr_t end;          /* of pool 0 */
    pool_block *first_free[POOLS];
} heap;

static uint32_t block_bytes(uint32_t pool) {
    return (uint32_t)SMALLEST_BYTES << pool;
}

/** The pool of the smallest blocks that hold `size` bytes, which is 1 to LARGEST_BYTES. */
static uint32_t pool_for(uint32_t size) {
    return size <= SMALLEST_BYTES ? 0 : 28u - (uint32_t)__builtin_clz(size - 1u);
}

/** The pool in which `address` lies, or POOLS. */
static uint32_t pool_around(uintptr_t address) {
    uint32_t pool = address < heap.end ? 0 : POOLS;
    while (pool < POOLS && address < heap.begin[pool]) {
        pool++;
    }
    return pool;
}

static void put(uint32_t pool, pool_block *block) {
    block->next = heap.first_free[pool];
    heap.first_free[pool] = block;
    heap.not_empty |= 1u << pool;
    heap.free_bytes += block_bytes(pool);
}

static pool_block *take(uint32_t pool) {
    pool_block *const block = heap.first_free[pool];
    heap.first_free[pool] = block->next;
    if (block->next == NULL) {
        heap.not_empty &= ~(1u << pool);
    }
    heap.free_bytes -= block_bytes(pool);
    return block;
}

/** Makes the largest pool first. What a pool leaves of its share goes to the next. */
void allocator_init(void *region, size_t bytes) {
    HEAP_REQUIRE((uintptr_t)region % 8u == 0);
    heap.region_bytes = (uint32_t)bytes;
    heap.free_bytes = heap.probes = heap.not_empty = 0;
    heap.end = (uintptr_t)region;
    uint32_t shared_out = 0;
    for (uint32_t pool = POOLS; pool-- > 0;) {
        shared_out += shares[pool];
        const uintptr_t limit =
            (uintptr_t)region + (uintptr_t)((uint64_t)bytes * shared_out / SHARES);
        const uint32_t blocks = (uint32_t)(limit - heap.end) / block_bytes(pool);
        heap.begin[pool] = heap.end;
        heap.end += blocks * block_bytes(pool);
        heap.first_free[pool] = NULL;
        for (uint32_t i = blocks; i-- > 0;) { /* the first one is taken first */
            put(pool, (pool_block *)(heap.begin[pool] + i * block_bytes(pool)));
        }
    }
}

allocator_result allocator_allocate(size_t size) {
    heap.probes = 0;
    REFUSE_UNLESS_OK(request_judge(size, heap.region_bytes == 0 ? 0 : LARGEST_BYTES));
    heap.probes = 1;
    const uint32_t fitting = heap.not_empty & ~0u << pool_for((uint32_t)size);
    if (fitting == 0) {
        return request_refused(HEAP_OUT_OF_MEMORY);
    }
    const uint32_t pool = (uint32_t)__builtin_ctz(fitting);
    return request_served(take(pool), block_bytes(pool));
}

/** No pool has blocks at multiples of more than 16, wherever the region lies. */
allocator_result allocator_allocate_aligned(size_t size, size_t alignment) {
    heap.probes = 0;
    REFUSE_UNLESS_OK(request_judge_aligned(size, alignment, heap.region_bytes));
    return alignment > 8u ? request_refused(HEAP_BAD_ALIGNMENT) : allocator_allocate(size);
}

allocator_result allocator_reallocate(void *payload, size_t size) {
    (void)payload;
    (void)size;
    heap.probes = 0;
    return request_refused(HEAP_UNSUPPORTED);
}

/** True if a block of `pool` begins at `address`, which lies in it. */
static bool is_begin(uint32_t pool, uintptr_t address) {
    return ((address - heap.begin[pool]) & (block_bytes(pool) - 1u)) == 0;
}

heap_status allocator_free(void *payload) {
    const uintptr_t address = (uintptr_t)payload;
    heap.probes = 0;
    REFUSE_NO_PAYLOAD(payload);
    const uint32_t pool = pool_around(address);
    if (pool == POOLS || !is_begin(pool, address)) {
        return HEAP_FOREIGN;
    }
    put(pool, payload);
    return HEAP_OK;
}

/* Figures */

const allocator_overhead_bytes allocator_overhead = {
    .heap = TAILSCOPE_HEAP_BYTES % SMALLEST_BYTES, .block = 0, .smallest_block = SMALLEST_BYTES};
const size_t allocator_largest_alignment = 8;

size_t allocator_usable_size(const void *payload) {
    const uint32_t pool = pool_around((uintptr_t)payload);
    return pool < POOLS && is_begin(pool, (uintptr_t)payload) ? block_bytes(pool) : 0;
}

size_t allocator_free_bytes(void) {
    return heap.free_bytes;
}

size_t allocator_largest_free_block(void) {
    return heap.not_empty == 0 ? 0 : block_bytes(31u - (uint32_t)__builtin_clz(heap.not_empty));
}

allocator_free_space allocator_read_free(void) {
    allocator_free_space space = {0};
    for (uint32_t pool = 0; pool < POOLS; pool++) {
        const pool_block *block = heap.first_free[pool];
        for (; block != NULL; block = block->next) {
            free_space_add(&space, block_bytes(pool));
        }
    }
    return space;
}

EXTENT_BY_HEADER

LARGEST_EXTENT_BY_WALK

uint32_t allocator_probes(void) {
    return heap.probes;
}

/** Follows each list: its blocks lie in its pool, and it is not empty where the bitmap says so. */
bool allocator_check(void) {
    uint32_t free_bytes = 0;
    for (uint32_t pool = 0; pool < POOLS; pool++) {
        const bool filed = (heap.not_empty >> pool & 1u) != 0;
        if (filed != (heap.first_free[pool] != NULL)) {
            return false;
        }
        const pool_block *block = heap.first_free[pool];
        for (; block != NULL; block = block->next) {
            const uintptr_t address = (uintptr_t)block;
            free_bytes += block_bytes(pool);
            if (pool_around(address) != pool || !is_begin(pool, address) ||
                free_bytes > heap.free_bytes) { /* a list that runs in a circle ends here */
                return false;
            }
        }
    }
    return free_bytes == heap.free_bytes;
}

ALLOCATOR_NAME
