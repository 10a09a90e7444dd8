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
#define _GNU_SOURCE /* ptrace */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allocator.h"
#include "region.h"
#include "trace.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file is read as it lies in memory");

#define STEP_BYTES 8u
#define GRAIN_BYTES 4u /* every allocator's blocks begin on words */
#define NOTHING_TO_FREE 255u
#define SKIPPED 254u

DEFINE_REGION(1 << 24);
size_t heap_region_bytes_now;

typedef struct {
    void *payload; /* NULL: empty, or its allocation failed */
    allocator_extent extent;
} replay_slot;

static replay_slot *slots;
static size_t slot_count; /* the greatest slot + 1 */
static trace_operation *operations;
static size_t operation_count;

/* What was done so far, as far as operations depend on it. */
static struct {
    uint32_t before; /* the status of the operation before */
    bool skips;      /* the allocations up to the next free */
} course;

static void refuse(int status, const char *complaint) {
    fprintf(stderr, "trace_replay: %s\n", complaint);
    exit(status);
}

static void read_operations(const char *path) {
    FILE *const file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        refuse(2, "the operations' file cannot be opened.");
    }
    operation_count = (size_t)ftell(file) / sizeof(trace_operation);
    rewind(file);
    operations = calloc(operation_count + 1u, sizeof(trace_operation));
    if (operations == NULL ||
        fread(operations, sizeof(trace_operation), operation_count, file) != operation_count) {
        refuse(2, "the operations cannot be read.");
    }
    for (size_t i = 0; i < operation_count; i++) {
        const size_t behind = operations[i].slot + 1u;
        slot_count = behind > slot_count ? behind : slot_count;
    }
    slots = calloc(slot_count + 1u, sizeof *slots);
    if (slots == NULL) {
        refuse(2, "there is not enough memory for so many slots.");
    }
}

/* The heap, and which words of it belong to live blocks. That proves that blocks lie in the region
 * and never overlap, whatever the allocator says of itself. */

static size_t region_bytes;
static uint8_t taken[TAILSCOPE_HEAP_BYTES / GRAIN_BYTES + 1u];

/** True if the allocator took the region. */
static bool start(size_t bytes) {
    memset(slots, 0, slot_count * sizeof *slots);
    memset(&course, 0, sizeof course);
    memset(heap_region, 0, bytes);
    memset(taken, 0, bytes / GRAIN_BYTES + 1u);
    region_bytes = heap_region_bytes_now = bytes;
    if (bytes < (size_t)allocator_overhead.heap + allocator_overhead.smallest_block) {
        return false; /* some would set up lists outside of so small a region */
    }
    allocator_init(heap_region, bytes);
    return true;
}

/** Words that a block takes, the last of them perhaps in part. */
static size_t words_of(allocator_extent block) {
    return (block.end - block.begin + GRAIN_BYTES - 1u) / GRAIN_BYTES;
}

static void mark(allocator_extent block, uint8_t live) {
    memset(&taken[(block.begin - (uintptr_t)heap_region) / GRAIN_BYTES], live, words_of(block));
}

static void check_extent(allocator_extent block) {
    const uintptr_t region = (uintptr_t)heap_region;
    if (block.begin < region || block.begin >= block.end || block.end > region + region_bytes ||
        (block.begin - region) % GRAIN_BYTES != 0 ||
        memchr(&taken[(block.begin - region) / GRAIN_BYTES], 1, words_of(block)) != NULL) {
        refuse(3, "a block leaves the region or overlaps another.");
    }
}

/* Operations */

static heap_status enter(replay_slot *slot, allocator_result result) {
    if (result.status == HEAP_OK) {
        slot->payload = result.payload;
        slot->extent = allocator_extent_of(result.payload);
        check_extent(slot->extent);
        mark(slot->extent, 1);
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
        mark(slot->extent, 0);
        slot->payload = NULL;
    }
    return status;
}

static heap_status reallocate(replay_slot *slot, const trace_operation *operation) {
    if (slot->payload == NULL) {
        return allocate(slot, operation);
    }
    const replay_slot before = *slot;
    const allocator_result result = allocator_reallocate(before.payload, operation->size);
    if (result.status == HEAP_UNSUPPORTED) {
        const heap_status status = allocate(slot, operation);
        if (status == HEAP_OK) {
            (void)allocator_free(before.payload);
            mark(before.extent, 0);
        }
        return status;
    }
    if (result.status == HEAP_OK) {
        mark(before.extent, 0);
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

static uint32_t operate(const trace_operation *operation) {
    const uint32_t kind = operation->kind; /* of an allocation only, it has flags */
    const bool allocates = kind != TRACE_FREE && kind != TRACE_REALLOCATE;
    const bool is_vain = (kind & TRACE_RETRY) != 0 && course.before != HEAP_OUT_OF_MEMORY;
    const bool skips = allocates && (course.skips || is_vain);
    course.before = skips ? SKIPPED : carry_out(operation);
    if (kind == TRACE_FREE) {
        course.skips = false;
    } else if (course.before == HEAP_OUT_OF_MEMORY && (kind & TRACE_LAST_IF_REFUSED) != 0) {
        course.skips = true;
    }
    return course.before;
}

/* The commands */

enum { WORDS = 6 };

static void run(size_t bytes, const char *path) {
    FILE *const output = fopen(path, "wb");
    if (output == NULL) {
        refuse(2, "the output cannot be written.");
    }
    const bool is_taken = start(bytes);
    const allocator_free_space space = is_taken ? allocator_read_free() : (allocator_free_space){0};
    const size_t in_use = space.bytes + space.blocks * allocator_overhead.block;
    const size_t overhead = !is_taken           ? bytes
                            : space.blocks == 0 ? allocator_overhead.heap
                                                : bytes - in_use;
    const uint32_t fresh[WORDS] = {
        overhead, allocator_overhead.block, is_taken, space.blocks, space.bytes, 0};
    (void)fwrite(fresh, sizeof fresh, 1, output);
    for (size_t i = 0; i < operation_count; i++) {
        const bool frees = operations[i].kind == TRACE_FREE;
        const replay_slot *const slot = &slots[operations[i].slot];
        uint32_t row[WORDS] = {frees ? NOTHING_TO_FREE : HEAP_OUT_OF_MEMORY};
        if (is_taken) {
            row[5] = allocator_usable_size(slot->payload);
            row[0] = operate(&operations[i]);
            if (!frees) {
                row[3] = allocator_largest_free_extent();
                row[5] = allocator_usable_size(slot->payload);
            }
            if (row[0] == HEAP_OK) { /* of a block that was freed, where it was */
                row[1] = slot->extent.begin - (uintptr_t)heap_region;
                row[2] = slot->extent.end - (uintptr_t)heap_region;
            }
            row[4] = row[0] == NOTHING_TO_FREE || row[0] == SKIPPED ? 0 : allocator_probes();
        }
        (void)fwrite(row, sizeof row, 1, output);
    }
    if (fclose(output) != 0) {
        refuse(2, "the output cannot be written.");
    }
}

static void serve(size_t first, size_t last, bool stops) {
    for (size_t bytes = first; bytes <= last; bytes += STEP_BYTES) {
        bool served = start(bytes);
        for (size_t i = 0; served && i < operation_count; i++) {
            const uint32_t status = operate(&operations[i]);
            served = status == HEAP_OK || status == SKIPPED; /* so every free has a block */
        }
        putchar(served ? '1' : '0');
        if (served && stops) {
            return;
        }
    }
}

/* Counting. The traced copy of this process stops before its work and behind it. */
#define STOP() __asm__ volatile("int3" ::: "memory")

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

static bool stopped(pid_t child) {
    int status;
    return waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
}

/** The instructions of `work`, of its call and its return. A repeated string instruction counts
 * once for each repetition. */
static long single_steps(void (*work)(void)) {
    const pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0) {
            STOP();
            work();
            STOP();
        }
        _exit(1);
    }
    bool goes_on = child > 0 && stopped(child);
    siginfo_t why = {0};
    long steps = -1;
    do {
        goes_on = goes_on && ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0 && stopped(child) &&
                  ptrace(PTRACE_GETSIGINFO, child, NULL, &why) == 0;
        steps++;
    } while (goes_on && why.si_code != SI_KERNEL); /* its own int3, not a single step */
    if (!goes_on) {
        refuse(4, "this machine does not let instructions be counted one by one (ptrace).");
    }
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    return steps;
}

static void count(size_t bytes) {
    if (operation_count == 0 || !start(bytes)) {
        refuse(2, "there is nothing to count: no operations, or a region that is too small.");
    }
    for (size_t i = 0; i + 1u < operation_count; i++) {
        if (operate(&operations[i]) != HEAP_OK) {
            refuse(2, "the region is too small: an operation before the last is refused.");
        }
    }
    counted = &operations[operation_count - 1u];
    counted_slot = &slots[counted->slot];
    if (counted->kind == TRACE_REALLOCATE || counted->alignment != 0) {
        refuse(2, "only a plain allocation or a free can be counted.");
    }
    const long nothing = single_steps(works[0]);
    printf("%ld\n", single_steps(works[1]) - nothing);
}

static size_t bytes_of(const char *word) {
    const unsigned long bytes = strtoul(word, NULL, 10);
    if (bytes == 0 || bytes > TAILSCOPE_HEAP_BYTES) {
        refuse(2, "a region's size is a number of bytes, up to what this was built for.");
    }
    return bytes;
}

int main(int argc, char **argv) {
    if (argc > 3) {
        read_operations(argv[2]);
    }
    if (argc == 5 && strcmp(argv[1], "run") == 0) {
        run(bytes_of(argv[3]), argv[4]);
    } else if (argc == 6 && strcmp(argv[1], "serve") == 0) {
        serve(bytes_of(argv[3]), bytes_of(argv[4]), strcmp(argv[5], "first") == 0);
    } else if (argc == 4 && strcmp(argv[1], "count") == 0) {
        count(bytes_of(argv[3]));
    } else {
        refuse(2, "say run, serve or count; the first comment of trace_replay.c tells how.");
    }
    return fflush(stdout) != 0;
}
