/**
 * Runs an operation image on the host with the heap that the firmware links, and prints for each
 * operation
 *
 *     seq,kind,size,probes,live,bytes_in_use
 *
 * with the meaning these fields have in the firmware's OP records (docs/reference/records.md).
 */
#include <stdio.h>
#include <stdlib.h>

#include "heap.h"
#include "operation_image.h"

typedef struct {
    enum { SLOT_EMPTY, SLOT_LIVE, SLOT_FAILED } state;
    void *payload;
    uint32_t size;
} replay_slot;

typedef struct {
    char kind;
    uint32_t size;
    uint32_t probes;
} replay_outcome;

static replay_outcome allocate(replay_slot *slot, const image_operation *operation) {
    const uint32_t size = operation->argument;
    slot->payload = operation->align_log2 == 0
                        ? heap_allocate(size)
                        : heap_allocate_aligned(size, (size_t)1 << operation->align_log2);
    slot->state = slot->payload != NULL ? SLOT_LIVE : SLOT_FAILED;
    slot->size = size;
    return (replay_outcome){slot->payload != NULL ? 'A' : 'O', size, heap_last_operation().probes};
}

static replay_outcome release(replay_slot *slot) {
    const bool had_failed = slot->state == SLOT_FAILED;
    slot->state = SLOT_EMPTY;
    if (had_failed) {
        return (replay_outcome){'N', slot->size, 0};
    }
    const heap_status status = heap_free(slot->payload);
    return (replay_outcome){status == HEAP_OK ? 'F' : 'E', slot->size,
                            heap_last_operation().probes};
}

/** What was done so far, as far as operations depend on it (docs/reference/operation-image.md). */
typedef struct {
    char before;
    bool skips;
} replay_course;

static bool is_retry(const image_operation *operation) {
    return operation->kind == OPERATION_ALLOCATE && (operation->flags & OPERATION_RETRY) != 0;
}

static bool is_skipped(const replay_course *course, const image_operation *operation) {
    return operation->kind == OPERATION_ALLOCATE &&
           (course->skips || (is_retry(operation) && course->before != 'O'));
}

static replay_outcome skip(const replay_course *course, replay_slot *slot,
                           const image_operation *operation) {
    if (course->skips) {
        *slot = (replay_slot){SLOT_FAILED, NULL, operation->argument};
    }
    return (replay_outcome){'S', operation->argument, 0};
}

static void follow(replay_course *course, const image_operation *operation, char kind) {
    course->before = kind;
    if (operation->kind == OPERATION_FREE) {
        course->skips = false;
    } else if (kind == 'O' && (operation->flags & OPERATION_LAST_IF_REFUSED) != 0) {
        course->skips = true;
    }
}

/**
 * False where a live slot is allocated into or an empty one freed: no scenario compiles to that.
 */
static bool fits(const replay_slot *slot, const image_operation *operation) {
    return is_retry(operation) ||
           (operation->kind == OPERATION_ALLOCATE) == (slot->state == SLOT_EMPTY);
}

static bool replay(operation_image image) {
    static replay_slot slots[OPERATION_SLOTS_LIMIT];
    replay_course course = {0};
    unsigned seq = 0;
    heap_reset();
    for (uint32_t i = 0; i < image.count; i++) {
        const image_operation *const operation = &image.operations[i];
        if (operation->kind == OPERATION_MARK) {
            continue;
        }
        replay_slot *const slot = &slots[operation->slot];
        if (!fits(slot, operation)) {
            fprintf(stderr,
                    "replay: operation %u allocates into a live slot or frees an empty one.\n",
                    seq);
            return false;
        }
        const bool allocates = operation->kind == OPERATION_ALLOCATE;
        const replay_outcome outcome = is_skipped(&course, operation)
                                           ? skip(&course, slot, operation)
                                       : allocates ? allocate(slot, operation)
                                                   : release(slot);
        follow(&course, operation, outcome.kind);
        const heap_witness witness = heap_last_operation();
        printf("%u,%c,%u,%u,%zu,%zu\n", seq++, outcome.kind, outcome.size, outcome.probes,
               witness.live_blocks, witness.bytes_in_use);
    }
    if (!heap_check()) {
        fprintf(stderr, "replay: the heap's invariants do not hold at the end.\n");
        return false;
    }
    return true;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "replay: name one operation image (operations.bin).\n");
        return 2;
    }
    const char *complaint = NULL;
    const operation_image image = operation_image_read(argv[1], &complaint);
    if (complaint != NULL) {
        fprintf(stderr, "replay: %s: %s\n", argv[1], complaint);
        return 2;
    }
    const bool held = replay(image);
    free(image.operations);
    return held ? 0 : 1;
}
