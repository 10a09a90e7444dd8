#include "bench/steps.h"

#include "FreeRTOS.h"
#include "bench/account.h"
#include "bench/other_operations.h"
#include "bench/records.h"
#include "bench/stimulus.h"
#include "board/cycle_counter.h"
#include "board/markers.h"
#include "board/pins.h"
#include "heap/allocator.h"

/* A slot keeps its address after a free, so that a scenario can free it again and be refused. */
typedef struct {
    void *payload; /* NULL: never allocated, or the allocation failed */
    uint32_t size;
} slot;

static slot slots[IMAGE_SLOTS_MAX];

typedef struct {
    char kind;
    uint32_t size;
    uint32_t operation_cycles;
    heap_witness witness;
} outcome;

static outcome allocation_outcome(const image_entry *entry, void *payload,
                                  uint32_t operation_cycles) {
    const uint32_t size = entry->argument;
    slots[entry->id] = (slot){payload, size};
    if (payload != NULL) {
        account_allocated(payload);
    }
    return (outcome){payload != NULL ? 'A' : 'O', size, operation_cycles, heap_last_operation()};
}

static outcome allocate(const image_entry *entry) {
    const uint32_t size = entry->argument;
    const uint32_t begin = operation_begin();
    void *payload = pvPortMalloc(size);
    const uint32_t end = operation_end();
    return allocation_outcome(entry, payload, end - begin);
}

/* FreeRTOS has no aligned allocation: the facade is called directly. */
static outcome allocate_aligned(const image_entry *entry) {
    const uint32_t size = entry->argument;
    const uint32_t alignment = 1u << entry->align_log2;
    const uint32_t begin = operation_begin();
    void *payload = heap_allocate_aligned(size, alignment);
    const uint32_t end = operation_end();
    return allocation_outcome(entry, payload, end - begin);
}

static outcome free_block(const image_entry *entry) {
    const slot freed = slots[entry->id];
    const size_t usable_bytes = allocator_usable_size(freed.payload);
    const uint32_t begin = operation_begin();
    vPortFree(freed.payload);
    const uint32_t end = operation_end();
    const heap_witness witness = heap_last_operation();
    if (witness.status == HEAP_OK) {
        account_freed(usable_bytes);
    }
    return (outcome){witness.status == HEAP_OK ? 'F' : 'E', freed.size, end - begin, witness};
}

/* The heap is not called, but the operation keeps its OP pulse. */
static outcome do_nothing(char kind, uint32_t size) {
    (void)operation_begin();
    (void)operation_end();
    return (outcome){.kind = kind, .size = size};
}

/* The allocation failed or was skipped. */
static outcome free_nothing(const image_entry *entry) {
    return do_nothing('N', slots[entry->id].size);
}

/* What was done so far, as far as entries depend on it. */
static struct {
    char before; /* what became of the operation before */
    bool skips;  /* the allocations up to the next free */
} course;

static bool is_skipped(const image_entry *entry) {
    const bool is_retry = (entry->flags & FLAG_RETRY) != 0;
    return entry->kind == ENTRY_ALLOCATE && (course.skips || (is_retry && course.before != 'O'));
}

/* A retry that is not needed leaves the block that was got. Rare: kept out of the loop's code. */
__attribute__((noinline)) static outcome skip(const image_entry *entry) {
    if (course.skips) {
        slots[entry->id] = (slot){NULL, entry->argument};
    }
    return do_nothing('S', entry->argument);
}

static void follow(const image_entry *entry, char kind) {
    course.before = kind;
    if (entry->kind == ENTRY_FREE) {
        course.skips = false;
    } else if (kind == 'O' && (entry->flags & FLAG_LAST_IF_REFUSED) != 0) {
        course.skips = true;
    }
}

static outcome make_call(const image_entry *entry) {
    const call_cost cost = call((call_number)entry->argument);
    const heap_witness witness = {.critical_cycles = cost.critical_cycles};
    return (outcome){'K', entry->argument, cost.operation_cycles, witness};
}

static outcome run(const image_entry *entry) {
    if (entry->kind == ENTRY_CALL) {
        return make_call(entry);
    }
    if (entry->kind == ENTRY_FREE) {
        return slots[entry->id].payload != NULL ? free_block(entry) : free_nothing(entry);
    }
    return entry->align_log2 == 0 ? allocate(entry) : allocate_aligned(entry);
}

static void record_operation(uint32_t seq, const outcome *done) {
    const heap_account account = account_read();
    record_begin("OP");
    record_decimal(seq);
    record_letter(done->kind);
    record_decimal(done->size);
    record_decimal(done->witness.critical_cycles);
    record_decimal(done->operation_cycles);
    record_decimal(done->witness.probes);
    record_decimal(account.live_blocks);
    record_decimal(account.bytes_in_use);
    record_end();
}

static void record_sum(latency_sum sum) {
    record_decimal(sum.number);
    record_decimal(sum.ticks);
}

/* Most operations are met by none. */
static void record_interrupts(uint32_t seq) {
    const latency_sum isr = stimulus_read_sum(ANSWER_ISR);
    const latency_sum task = stimulus_read_sum(ANSWER_TASK);
    const latency_sum control = stimulus_read_sum(ANSWER_CONTROL);
    if (isr.number + task.number + control.number == 0u) {
        return;
    }
    record_begin("IRQ");
    record_decimal(seq);
    record_sum(isr);
    record_sum(task);
    record_sum(control);
    record_end();
}

static void record_mark(const image_entry *entry) {
    record_begin("MARK");
    record_decimal(entry->argument);
    record_end();
}

/* The counter was found off. So many operations from `first` on have no cycles. */
static void record_counter_off(uint32_t first, uint32_t operations) {
    record_begin("OFF");
    record_decimal(first);
    record_decimal(operations);
    record_end();
}

uint32_t interpret(const image *checked) {
    uint32_t seq = 0;
    for (uint32_t index = 0; index < checked->header.entry_count; index++) {
        const image_entry *entry = &checked->entries[index];
        if (entry->kind == ENTRY_MARK) {
            record_mark(entry);
            continue;
        }
        bool skipped = is_skipped(entry);
        /* Known before the stimulus is armed: from then on all operations take the same way. */
        __asm__ volatile("" : "+r"(skipped));
        const bool counted_before = cycle_counter_keep();
        stimulus_prepare(seq, entry->stimulus_offset);
        pin_write(SYNC_PORT, SYNC_PIN, seq % 2u == 0u);
        const outcome done = skipped ? skip(entry) : run(entry);
        const bool counted = cycle_counter_keep();
        follow(entry, done.kind);
#ifdef TAILSCOPE_WITHOUT_RECORDS
        (void)record_operation; /* docs/reference/perturbation.md */
        (void)record_interrupts;
        (void)record_counter_off;
        (void)done;
        (void)counted_before;
        (void)counted;
#else
        record_operation(seq, &done);
        record_interrupts(seq);
        if (!counted_before || !counted) {
            record_counter_off(seq, counted ? 0 : 1);
        }
#endif
        seq++;
    }
    return seq;
}
