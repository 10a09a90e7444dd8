/**
 * Replays a trace on the allocator that it is linked with, over a region of any size.
 *
 *     trace_replay run OPERATIONS BYTES OUTPUT
 *
 * writes to a file words of 32 bits: six of the fresh heap (bytes that no block can use, of the
 * region; bytes beside a payload; 1 if the allocator took the region, else 0; free blocks; free
 * bytes; 0), then six for each operation: status (heap_status, 255 where a free has nothing to
 * free, 254 if skipped), where its block begins and ends, in bytes from the region's beginning,
 * after an allocation the largest free block, header included; what the search looked at; what the
 * payload can hold.
 *
 *     trace_replay serve OPERATIONS FIRST LAST first|all
 *
 * replays over regions of FIRST, FIRST + 8 … LAST bytes and prints for each 1 if every allocation
 * was served, else 0. With `first` it stops behind the first 1.
 *
 *     trace_replay count OPERATIONS BYTES
 *
 * replays all operations but the last, does that one instruction by instruction, and prints how
 * many there were beyond those of an empty function. A few load the operation and keep its result.
 *
 * A reallocation that the allocator does not have is an allocation and a free. The region begins on
 * a multiple of 16 MiB, so that no allocator loses bytes by where it lies, or where it was built
 * to. Exit status: 0; 2 for a wrong call; 3 if blocks leave the region or overlap, 4 if
 * instructions cannot be counted.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "region.h"
#include "region_map.h"
#include "single_steps.h"
#include "trace.h"

#define STEP_BYTES 8u
#define NOTHING_TO_FREE 255u
#define SKIPPED 254u

extern uint8_t heap_region[];
#ifdef TAILSCOPE_REGION_HAS_AN_ADDRESS /* CMakeLists.txt */
__attribute__((section(".region"))) _Alignas(16) uint8_t heap_region[TAILSCOPE_HEAP_BYTES];
#else
_Alignas(1 << 24) uint8_t heap_region[TAILSCOPE_HEAP_BYTES];
#endif
size_t heap_region_bytes_now;

typedef struct {
    void *payload; /* NULL: empty, or its allocation failed */
    allocator_extent extent;
} replay_slot;

static replay_slot *slots;

/* What was done so far, as far as operations depend on it. */
static struct {
    uint32_t before; /* the status of the operation before */
    bool skips;      /* the allocations up to the next free */
} course;

static void refuse(int status, const char *complaint) {
    fprintf(stderr, "trace_replay: %s\n", complaint);
    exit(status);
}

/* The heap */

/** True if the allocator took the region. */
static bool start(size_t bytes, size_t slot_count) {
    memset(slots, 0, slot_count * sizeof *slots);
    memset(&course, 0, sizeof course);
    memset(heap_region, 0, bytes);
    region_map_reset(heap_region, bytes);
    heap_region_bytes_now = bytes;
    if (bytes < (size_t)allocator_overhead.heap + allocator_overhead.smallest_block) {
        return false; /* some would set up lists outside of so small a region */
    }
    allocator_init(heap_region, bytes);
    return true;
}

/** Of the fresh heap: what no block can use. */
static size_t region_overhead(size_t bytes) {
    const allocator_free_space space = allocator_read_free();
    return space.blocks == 0 ? allocator_overhead.heap
                             : bytes - space.bytes - space.blocks * allocator_overhead.block;
}

/* Operations */

static heap_status enter(replay_slot *slot, allocator_result result) {
    if (result.status == HEAP_OK) {
        slot->payload = result.payload;
        slot->extent = allocator_extent_of(result.payload);
        if (!region_map_enter(slot->extent)) {
            refuse(3, "a block leaves the region or overlaps another.");
        }
    }
    return result.status;
}

static heap_status allocate(replay_slot *slot, const trace_operation *operation) {
    return enter(slot, operation->alignment == 0
                           ? allocator_allocate(operation->size)
                           : allocator_allocate_aligned(operation->size, operation->alignment));
}

static uint32_t release(replay_slot *slot) {
    if (slot->payload == NULL) {
        return NOTHING_TO_FREE;
    }
    const heap_status status = allocator_free(slot->payload);
    if (status == HEAP_OK) {
        region_map_leave(slot->extent);
        slot->payload = NULL;
    }
    return status;
}

static heap_status move(replay_slot *slot, const trace_operation *operation) {
    const replay_slot before = *slot;
    const heap_status status = allocate(slot, operation);
    if (status == HEAP_OK) {
        (void)allocator_free(before.payload);
        region_map_leave(before.extent);
    }
    return status;
}

static heap_status reallocate(replay_slot *slot, const trace_operation *operation) {
    if (slot->payload == NULL) {
        return allocate(slot, operation);
    }
    const allocator_result result = allocator_reallocate(slot->payload, operation->size);
    if (result.status == HEAP_UNSUPPORTED) {
        return move(slot, operation);
    }
    if (result.status == HEAP_OK) {
        region_map_leave(slot->extent);
    }
    return enter(slot, result);
}

static uint32_t carry_out(const trace_operation *operation) {
    replay_slot *const slot = &slots[operation->slot];
    switch (operation->kind) {
    case TRACE_FREE:
        return release(slot);
    case TRACE_REALLOCATE:
        return reallocate(slot, operation);
    default:
        return allocate(slot, operation);
    }
}

static bool allocates(const trace_operation *operation) {
    return operation->kind != TRACE_FREE && operation->kind != TRACE_REALLOCATE;
}

static bool is_skipped(const trace_operation *operation) {
    const bool is_retry = (operation->kind & TRACE_RETRY) != 0;
    return allocates(operation) &&
           (course.skips || (is_retry && course.before != HEAP_OUT_OF_MEMORY));
}

static uint32_t operate(const trace_operation *operation) {
    const uint32_t status = is_skipped(operation) ? SKIPPED : carry_out(operation);
    course.before = status;
    if (operation->kind == TRACE_FREE) {
        course.skips = false;
    } else if (status == HEAP_OUT_OF_MEMORY && (operation->kind & TRACE_LAST_IF_REFUSED) != 0) {
        course.skips = true;
    }
    return status;
}

/* The commands */

static FILE *output;

/** What a file has of each operation, and first of the heap. */
typedef struct {
    uint32_t words[6];
} row;

static void put(row told) {
    (void)fwrite(&told, sizeof told, 1, output);
}

static row of_fresh_heap(bool taken, size_t bytes) {
    const allocator_free_space space = taken ? allocator_read_free() : (allocator_free_space){0};
    const uint32_t overhead = taken ? region_overhead(bytes) : bytes;
    return (row){{overhead, allocator_overhead.block, taken, space.blocks, space.bytes, 0}};
}

static size_t usable_bytes(const replay_slot *slot) {
    return slot->payload == NULL ? 0 : allocator_usable_size(slot->payload);
}

static row of_operation(const trace_operation *operation) {
    const replay_slot *const slot = &slots[operation->slot];
    const allocator_extent before = slot->extent;
    const size_t usable_before = usable_bytes(slot);
    const uint32_t status = operate(operation);
    const bool frees = operation->kind == TRACE_FREE;
    const bool has_block = status == HEAP_OK;
    const allocator_extent block = frees ? before : slot->extent;
    const uintptr_t region = (uintptr_t)heap_region;
    return (row){{
        status,
        has_block ? block.begin - region : 0,
        has_block ? block.end - region : 0,
        frees ? 0 : allocator_largest_free_extent(),
        status == NOTHING_TO_FREE || status == SKIPPED ? 0 : allocator_probes(),
        frees ? usable_before : usable_bytes(slot),
    }};
}

static void run(const trace *found, size_t bytes) {
    const bool taken = start(bytes, found->slots);
    put(of_fresh_heap(taken, bytes));
    for (size_t i = 0; i < found->count; i++) {
        if (taken) {
            put(of_operation(&found->operations[i]));
        } else {
            const bool frees = found->operations[i].kind == TRACE_FREE;
            put((row){{frees ? NOTHING_TO_FREE : HEAP_OUT_OF_MEMORY}});
        }
    }
}

static bool serves(const trace *found, size_t bytes) {
    if (!start(bytes, found->slots)) {
        return false;
    }
    for (size_t i = 0; i < found->count; i++) {
        const uint32_t status = operate(&found->operations[i]);
        if (status != HEAP_OK && status != SKIPPED) {
            return false; /* nothing failed before, so every free has a block */
        }
    }
    return true;
}

static void serve(const trace *found, size_t first, size_t last, bool stops) {
    for (size_t bytes = first; bytes <= last; bytes += STEP_BYTES) {
        const bool served = serves(found, bytes);
        putchar(served ? '1' : '0');
        if (served && stops) {
            return;
        }
    }
}

/* What is counted takes no argument, so it is left here. */
static const trace_operation *counted;
static replay_slot *counted_slot;
static allocator_result counted_result;

static void count_nothing(void) {
}

static void count_operation(void) {
    if (counted->kind == TRACE_FREE) {
        counted_result.status = allocator_free(counted_slot->payload);
    } else {
        counted_result = allocator_allocate(counted->size);
    }
}

/* Kept apart from its caller, so that the call costs what that of count_nothing() does. */
static void (*volatile const works[])(void) = {count_nothing, count_operation};

static void count(const trace *found, size_t bytes) {
    if (found->count == 0 || !start(bytes, found->slots)) {
        refuse(2, "there is nothing to count: no operations, or a region that is too small.");
    }
    for (size_t i = 0; i + 1u < found->count; i++) {
        if (operate(&found->operations[i]) != HEAP_OK) {
            refuse(2, "the region is too small: an operation before the last is refused.");
        }
    }
    counted = &found->operations[found->count - 1u];
    counted_slot = &slots[counted->slot];
    if (counted->kind == TRACE_REALLOCATE || counted->alignment != 0) {
        refuse(2, "only a plain allocation or a free can be counted.");
    }
    const int64_t nothing = single_steps(works[0]);
    const int64_t all = single_steps(works[1]);
    if (nothing < 0 || all < nothing) {
        refuse(4, "this machine does not let instructions be counted one by one (ptrace).");
    }
    printf("%lld\n", (long long)(all - nothing));
}

static size_t region_bytes(const char *word) {
    char *end;
    errno = 0;
    const unsigned long bytes = strtoul(word, &end, 10);
    if (errno != 0 || *end != '\0' || bytes == 0 || bytes > TAILSCOPE_HEAP_BYTES) {
        refuse(2, "a region's size is a number of bytes, up to what this was built for.");
    }
    return bytes;
}

int main(int argc, char **argv) {
    const bool runs = argc == 5 && strcmp(argv[1], "run") == 0;
    const bool searches = argc == 6 && strcmp(argv[1], "serve") == 0;
    const bool counts = argc == 4 && strcmp(argv[1], "count") == 0;
    if (!runs && !searches && !counts) {
        refuse(2,
               "say run OPERATIONS BYTES OUTPUT, serve OPERATIONS FIRST LAST first|all, or count "
               "OPERATIONS BYTES.");
    }
    trace found;
    const char *const complaint = trace_read(argv[2], &found);
    if (complaint != NULL) {
        refuse(2, complaint);
    }
    slots = calloc(found.slots + 1u, sizeof *slots);
    if (slots == NULL) {
        refuse(2, "there is not enough memory for so many slots.");
    }
    if (runs) {
        output = fopen(argv[4], "wb");
        if (output == NULL) {
            refuse(2, "the output cannot be written.");
        }
        run(&found, region_bytes(argv[3]));
    } else if (counts) {
        count(&found, region_bytes(argv[3]));
    } else {
        serve(&found, region_bytes(argv[3]), region_bytes(argv[4]), strcmp(argv[5], "first") == 0);
    }
    return (output != NULL && fclose(output) != 0) || fflush(stdout) != 0;
}
