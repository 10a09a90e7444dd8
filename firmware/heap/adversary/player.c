#include "player.h"

#include <string.h>

#include "allocator.h"

/* Where every request walks a long list, a list of operations takes long. It ends early then: after
 * so many basic blocks in all, or in operations that are to be dear and are not the dearest yet. */
#define MOST_BLOCKS 2000000u
#define MOST_BLOCKS_IN_VAIN 100000u
#define PATIENCE 6u /* so many times as many of a patient one, and none is in vain */
#define WHOLE 65536

DEFINE_REGION(1 << 16);

/* Basic blocks. Addresses of one program's allocator differ in far more than these bits; if two
 * should not, two sets of blocks pass for one. */

#define PLACES (1u << 16)
#define CALL 0xE8u /* the x86's call of an address relative to the next instruction */
#define CALL_BYTES 5u
/* From the last block of a function to the first of the next is no block. */
#define LONGEST_BYTES 255u

extern const uint8_t __executable_start[], etext[]; /* of the linker */

static struct {
    uint32_t executed; /* each as often as it ran, as here below */
    uint32_t bytes;    /* their machine code */
    uint32_t ways;
} counted;
static uint8_t length[PLACES]; /* of the block at this place: up to where the next begins, bytes */
static uint32_t last_seen[PLACES]; /* when a block at this place was executed last */
static uint32_t now;

void __sanitizer_cov_trace_pc(void) {
    const uint32_t place = (uint32_t)(uintptr_t)__builtin_return_address(0);
    counted.executed++;
    counted.bytes += length[place % PLACES];
    if (last_seen[place % PLACES] != now) {
        last_seen[place % PLACES] = now;
        uint32_t mixed = place * 0x9E3779B1u;
        mixed ^= mixed >> 15;
        counted.ways += mixed * 0x85EBCA77u; /* a sum: the order does not matter */
    }
}

void player_measure_blocks(void) {
    const uint8_t *next = etext;
    for (const uint8_t *code = etext - CALL_BYTES; code >= __executable_start; code--) {
        const uint8_t *const begin = code + CALL_BYTES;
        int32_t distance;
        memcpy(&distance, code + 1, sizeof distance);
        if (*code == CALL && begin + distance == (const uint8_t *)__sanitizer_cov_trace_pc) {
            const size_t bytes = (size_t)(next - begin);
            length[(uintptr_t)begin % PLACES] =
                (uint8_t)(bytes < LONGEST_BYTES ? bytes : LONGEST_BYTES);
            next = code;
        }
    }
}

/* A list of operations */

typedef struct {
    void *payload; /* NULL: refused */
    uint32_t size;
} player_slot;

static player_slot slots[PLAYER_MOST_OPERATIONS];
static trace_operation played[PLAYER_MOST_OPERATIONS];

static struct {
    player_goal goal;
    player_limits limits;
    player_outcome best;
    uint32_t operations;
    uint32_t slots; /* ever in use */
    uint32_t idle_count, live_count;
    uint32_t idle[PLAYER_MOST_OPERATIONS]; /* the last is used first */
    uint32_t live[PLAYER_MOST_OPERATIONS]; /* the oldest first */
    uint32_t live_bytes, peak_bytes;
    uint32_t blocks; /* executed so far */
    uint32_t in_vain;
    bool patient;
    int64_t factor; /* of sizes in this round, in 65,536ths */
    int64_t more;   /* bytes to each of them */
    uintptr_t lowest, highest;
} run;

static void note(uint32_t cost, uint32_t ways) {
    if (cost > run.best.cost) {
        run.best = (player_outcome){
            .cost = cost, .ways = ways, .operations = run.operations, .peak_bytes = run.peak_bytes};
        run.in_vain = 0;
    }
}

static void begin(uint32_t kind, uint32_t slot, uint32_t size) {
    played[run.operations++] = (trace_operation){.kind = kind, .slot = slot, .size = size};
    memset(&counted, 0, sizeof counted);
    now++;
}

static void end(player_goal kind) {
    run.blocks += counted.executed;
    if (run.goal == kind) {
        run.in_vain += counted.executed;
        note(counted.bytes, counted.ways);
    }
}

static void release(uint32_t slot) {
    run.idle[run.idle_count++] = slot;
    begin(TRACE_FREE, slot, 0);
    (void)allocator_free(slots[slot].payload);
    end(GOAL_FREE);
    run.live_bytes -= slots[slot].size;
}

/* Recipes */

static bool is_over(void) {
    const bool spent = run.patient
                           ? run.blocks >= PATIENCE * MOST_BLOCKS
                           : run.blocks >= MOST_BLOCKS || run.in_vain >= MOST_BLOCKS_IN_VAIN;
    return spent || run.operations >= run.limits.operations;
}

/** False if that ends the loop. */
static bool perform_allocation(int64_t size) {
    const bool has_slot = run.idle_count > 0 || run.slots < run.limits.slots;
    if (!has_slot || size < 1 || size > UINT16_MAX ||
        size > run.limits.live_bytes - run.live_bytes) {
        return false;
    }
    const uint32_t bytes = (uint32_t)size;
    const uint32_t slot = run.idle_count > 0 ? run.idle[--run.idle_count] : run.slots++;
    begin(TRACE_ALLOCATE, slot, bytes);
    void *const payload = allocator_allocate(bytes).payload;
    end(GOAL_ALLOCATE);
    slots[slot] = (player_slot){payload, bytes};
    run.live_bytes += bytes; /* a refused one too: whoever reads the trace cannot know */
    if (payload == NULL) {
        return false; /* the slot stays taken: nobody frees what was refused */
    }
    run.peak_bytes = run.live_bytes > run.peak_bytes ? run.live_bytes : run.peak_bytes;
    if (run.goal == GOAL_USED) {
        const allocator_extent block = allocator_extent_of(payload);
        run.lowest = block.begin < run.lowest ? block.begin : run.lowest;
        run.highest = block.end > run.highest ? block.end : run.highest;
        const uint32_t used = run.highest - run.lowest;
        note(used, used / 1024u);
    }
    run.live[run.live_count++] = slot;
    return true;
}

static void perform_free(int64_t rank) {
    const int64_t at = rank < 0 ? run.live_count + rank : rank;
    if (at >= 0 && at < run.live_count) {
        uint32_t *const freed = &run.live[at];
        const uint32_t slot = *freed;
        run.live_count--;
        memmove(freed, freed + 1, (run.live_count - (uint32_t)at) * sizeof *freed);
        release(slot);
    }
}

static void loop(const recipe_step *step) {
    for (int32_t lap = 0; lap < step->count; lap++) {
        for (int32_t i = 0; i < step->acts; i++) {
            const recipe_act *const act = &step->act[i];
            const int64_t number = act->number + (int64_t)act->growth * lap;
            if (is_over()) {
                return;
            }
            if (act->frees) {
                perform_free(number);
            } else if (!perform_allocation(number * run.factor / WHOLE + run.more)) {
                return;
            }
        }
    }
}

static void sweep(const recipe_step *step) {
    static uint32_t chosen[PLAYER_MOST_OPERATIONS];
    uint32_t count = 0;
    uint32_t left = 0;
    for (uint32_t at = 0; at < run.live_count; at++) {
        const bool takes = at >= (uint32_t)step->first &&
                           (at - (uint32_t)step->first) % (uint32_t)step->stride == 0 &&
                           count < (uint32_t)step->count &&
                           run.operations + count < run.limits.operations;
        if (takes) {
            chosen[count++] = run.live[at];
        } else {
            run.live[left++] = run.live[at];
        }
    }
    run.live_count = left;
    uint64_t source = count;
    for (uint32_t i = 0; i < count; i++) {
        if (step->order == ORDER_SHUFFLED) {
            const uint32_t other = i + random_below(&source, count - i);
            const uint32_t held = chosen[i];
            chosen[i] = chosen[other];
            chosen[other] = held;
        }
        release(chosen[step->order == ORDER_YOUNGEST_FIRST ? count - 1 - i : i]);
    }
}

static void perform(const recipe_step *first, const recipe_step *last) {
    for (const recipe_step *step = first; step < last && !is_over(); step++) {
        if (step->kind == STEP_LOOP) {
            loop(step);
        } else if (step->kind == STEP_SWEEP) {
            sweep(step);
        }
    }
}

static void return_to(const recipe_step *first, const recipe_step *at) {
    for (int32_t round = 0; round < at->count && !is_over(); round++) {
        run.factor = run.factor * at->halves / 2;
        run.more = run.more * at->halves / 2 + at->more;
        if (run.factor == 0 || run.factor > (int64_t)WHOLE * UINT16_MAX) {
            break;
        }
        perform(first, at);
    }
    run.factor = WHOLE;
    run.more = 0;
}

player_outcome player_play(const recipe *recipe_played, player_goal goal,
                           const player_limits *limits) {
    memset(heap_region, 0, TAILSCOPE_HEAP_BYTES);
    memset(&run, 0, sizeof run);
    run.goal = goal;
    run.patient = recipe_played->patient;
    run.limits = *limits;
    run.lowest = UINTPTR_MAX;
    run.factor = WHOLE;
    allocator_init(heap_region, TAILSCOPE_HEAP_BYTES);
    for (int32_t i = 0; i < recipe_played->steps; i++) {
        const recipe_step *const step = &recipe_played->step[i];
        perform(step, step + 1);
        if (step->kind == STEP_RETURN) {
            return_to(step - (step->back < i ? step->back : i), step);
        }
    }
    return run.best;
}

const trace_operation *player_operations(void) {
    return played;
}
