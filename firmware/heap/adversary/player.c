#include "player.h"

#include <string.h>

#include "allocator.h"
#include "blocks.h"

#define MOST_SLOTS PLAYER_MOST_OPERATIONS
/* Where every request walks a long list, a list of operations takes long. It ends early then: after
 * so many basic blocks in all, or in operations that are to be dear and are not the dearest yet. */
#define MOST_BLOCKS 2000000u
#define MOST_BLOCKS_IN_VAIN 100000u
#define PATIENCE 6u /* so many times as many of a patient one, and none is in vain */
#define WHOLE 65536u

extern uint8_t heap_region[];
#ifdef TAILSCOPE_REGION_HAS_AN_ADDRESS /* CMakeLists.txt */
__attribute__((section(".region"))) _Alignas(16) uint8_t heap_region[TAILSCOPE_HEAP_BYTES];
#else
_Alignas(1 << 16) uint8_t heap_region[TAILSCOPE_HEAP_BYTES];
#endif

typedef struct {
    void *payload; /* NULL: empty, or refused */
    uint32_t size;
    allocator_extent extent;
} player_slot;

static player_slot slots[MOST_SLOTS];
static trace_operation played[PLAYER_MOST_OPERATIONS];

static struct {
    player_goal goal;
    player_limits limits;
    player_outcome best;
    uint32_t operations;
    uint32_t slots; /* ever in use */
    uint32_t idle_count, live_count;
    uint32_t idle[MOST_SLOTS]; /* the last is used first */
    uint32_t live[MOST_SLOTS]; /* the oldest first */
    uint32_t live_bytes, peak_bytes;
    uint32_t blocks; /* executed so far */
    uint32_t in_vain;
    bool patient;
    uint64_t factor; /* of sizes in this round, in 65,536ths */
    int64_t more;    /* bytes to each of them */
    uintptr_t lowest, highest;
} run;

static void start(player_goal goal, const player_limits *limits) {
    memset(heap_region, 0, TAILSCOPE_HEAP_BYTES);
    run.goal = goal;
    run.limits = *limits;
    run.best = (player_outcome){0};
    run.operations = run.slots = run.idle_count = run.live_count = 0;
    run.live_bytes = run.peak_bytes = run.blocks = run.in_vain = 0;
    run.lowest = UINTPTR_MAX;
    run.highest = 0;
    run.factor = WHOLE;
    run.more = 0;
    allocator_init(heap_region, TAILSCOPE_HEAP_BYTES);
}

static void enter(uint32_t kind, uint32_t slot, uint32_t size) {
    played[run.operations++] = (trace_operation){.kind = kind, .slot = slot, .size = size};
}

static void note(uint32_t cost, uint32_t ways) {
    if (cost > run.best.cost) {
        run.best = (player_outcome){
            .cost = cost, .ways = ways, .operations = run.operations, .peak_bytes = run.peak_bytes};
        run.in_vain = 0;
    }
}

static void note_blocks(blocks_counted counted) {
    run.in_vain += counted.executed;
    note(counted.bytes, counted.ways);
}

static void note_used(const player_slot *slot) {
    run.lowest = slot->extent.begin < run.lowest ? slot->extent.begin : run.lowest;
    run.highest = slot->extent.end > run.highest ? slot->extent.end : run.highest;
    const uint32_t used = run.highest - run.lowest;
    note(used, used / 1024u);
}

/** True if the allocation was served. */
static bool allocate(uint32_t slot, uint32_t size) {
    enter(TRACE_ALLOCATE, slot, size);
    blocks_begin();
    const allocator_result result = allocator_allocate(size);
    const blocks_counted counted = blocks_end();
    run.blocks += counted.executed;
    slots[slot] = (player_slot){.payload = result.payload, .size = size};
    if (run.goal == GOAL_ALLOCATE) {
        note_blocks(counted);
    }
    run.live_bytes += size; /* a refused one too: whoever reads the trace cannot know */
    if (result.status != HEAP_OK) {
        return false;
    }
    run.peak_bytes = run.live_bytes > run.peak_bytes ? run.live_bytes : run.peak_bytes;
    if (run.goal == GOAL_USED) {
        slots[slot].extent = allocator_extent_of(result.payload);
        note_used(&slots[slot]);
    }
    return true;
}

static void release(uint32_t slot) {
    enter(TRACE_FREE, slot, 0);
    blocks_begin();
    (void)allocator_free(slots[slot].payload);
    const blocks_counted counted = blocks_end();
    run.blocks += counted.executed;
    run.live_bytes -= slots[slot].size;
    slots[slot].payload = NULL;
    if (run.goal == GOAL_FREE) {
        note_blocks(counted);
    }
}

/* Recipes */

static bool is_over(void) {
    const bool spent = run.patient
                           ? run.blocks >= PATIENCE * MOST_BLOCKS
                           : run.blocks >= MOST_BLOCKS || run.in_vain >= MOST_BLOCKS_IN_VAIN;
    return spent || run.operations >= run.limits.operations;
}

/** False if that ends the loop. */
static bool perform_allocation(uint32_t size) {
    const bool has_slot = run.idle_count > 0 || run.slots < run.limits.slots;
    if (!has_slot || size > run.limits.live_bytes - run.live_bytes) {
        return false;
    }
    const uint32_t slot = run.idle_count > 0 ? run.idle[--run.idle_count] : run.slots++;
    if (!allocate(slot, size)) {
        return false; /* the slot stays taken: nobody frees what was refused */
    }
    run.live[run.live_count++] = slot;
    return true;
}

static void perform_free(uint32_t at) {
    const uint32_t slot = run.live[at];
    run.live_count--;
    memmove(&run.live[at], &run.live[at + 1], (run.live_count - at) * sizeof run.live[0]);
    run.idle[run.idle_count++] = slot;
    release(slot);
}

static bool perform(const recipe_act *act, uint32_t lap) {
    if (act->frees) {
        const int64_t rank = (int64_t)act->rank + (int64_t)act->growth * lap;
        if (rank >= 0 && rank < run.live_count) {
            perform_free(act->from_oldest ? (uint32_t)rank : run.live_count - 1u - (uint32_t)rank);
        }
        return true;
    }
    const int64_t first_round = (int64_t)act->size + (int64_t)act->growth * lap;
    const int64_t size = first_round * (int64_t)run.factor / WHOLE + run.more;
    return size >= 1 && size <= UINT16_MAX && perform_allocation((uint32_t)size);
}

static void loop(const recipe_step *step) {
    for (uint32_t lap = 0; lap < step->count; lap++) {
        for (uint32_t i = 0; i < step->acts; i++) {
            if (is_over() || !perform(&step->act[i], lap)) {
                return;
            }
        }
    }
}

static void reverse(uint32_t *list, uint32_t count) {
    for (uint32_t i = 0; i < count / 2; i++) {
        const uint32_t other = list[count - 1u - i];
        list[count - 1u - i] = list[i];
        list[i] = other;
    }
}

static void shuffle(uint32_t *list, uint32_t count) {
    recipe_random source = {.state = count};
    for (uint32_t i = count; i > 1; i--) {
        const uint32_t other = random_below(&source, i);
        const uint32_t kept = list[other];
        list[other] = list[i - 1u];
        list[i - 1u] = kept;
    }
}

static void sweep(const recipe_step *step) {
    static uint32_t chosen[MOST_SLOTS];
    uint32_t count = 0;
    uint32_t left = 0;
    for (uint32_t at = 0; at < run.live_count; at++) {
        const bool takes = at >= step->first && (at - step->first) % step->stride == 0 &&
                           count < step->count && run.operations + count < run.limits.operations;
        if (takes) {
            chosen[count++] = run.live[at];
        } else {
            run.live[left++] = run.live[at];
        }
    }
    run.live_count = left;
    if (step->order == ORDER_YOUNGEST_FIRST) {
        reverse(chosen, count);
    } else if (step->order == ORDER_SHUFFLED) {
        shuffle(chosen, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        run.idle[run.idle_count++] = chosen[i];
        release(chosen[i]);
    }
}

static void perform_step(const recipe_step *step) {
    if (step->kind == STEP_LOOP) {
        loop(step);
    } else if (step->kind == STEP_SWEEP) {
        sweep(step);
    }
}

static void return_to(const recipe_step *first, const recipe_step *at) {
    for (uint32_t round = 0; round < at->rounds && !is_over(); round++) {
        run.factor = run.factor * at->eighths / 8u;
        run.more = run.more * at->eighths / 8 + at->more;
        if (run.factor == 0 || run.factor > (uint64_t)WHOLE * UINT16_MAX) {
            break;
        }
        for (const recipe_step *step = first; step < at && !is_over(); step++) {
            perform_step(step);
        }
    }
    run.factor = WHOLE;
    run.more = 0;
}

player_outcome player_play(const recipe *recipe_played, player_goal goal,
                           const player_limits *limits) {
    start(goal, limits);
    run.patient = recipe_played->patient;
    for (uint32_t i = 0; i < recipe_played->steps && !is_over(); i++) {
        const recipe_step *const step = &recipe_played->step[i];
        if (step->kind == STEP_RETURN) {
            return_to(step - (step->back < i ? step->back : i), step);
        } else {
            perform_step(step);
        }
    }
    return run.best;
}

const trace_operation *player_operations(void) {
    return played;
}

player_outcome player_replay(const trace *given, player_goal goal) {
    const player_limits none = {
        .operations = PLAYER_MOST_OPERATIONS, .slots = MOST_SLOTS, .live_bytes = UINT32_MAX};
    start(goal, &none);
    for (size_t i = 0; i < given->count; i++) {
        const trace_operation *const operation = &given->operations[i];
        if (operation->kind == TRACE_ALLOCATE) {
            (void)allocate(operation->slot, operation->size);
        } else if (slots[operation->slot].payload != NULL) {
            release(operation->slot);
        }
    }
    return run.best;
}
