#include "starts.h"

#include <stddef.h>

typedef struct {
    uint16_t block, piece, request, laps;
    uint8_t pieces; /* odd */
    bool upward;
} split;

/* studies/adversary/known.py says for which header each is made. */
static const split splits[] = {
    {.block = 32, .piece = 8, .request = 16, .laps = 1364, .pieces = 1},
    {.block = 640, .piece = 8, .request = 24, .laps = 101, .pieces = 39},
    {.block = 16, .piece = 8, .request = 8, .laps = 2046, .pieces = 1},
    {.block = 20, .piece = 8, .request = 8, .laps = 2046, .pieces = 1, .upward = true},
    {.block = 20, .piece = 12, .request = 4, .laps = 2046, .pieces = 1},
};
#define SPLITS (sizeof splits / sizeof splits[0])

static recipe_act allocation(uint32_t size) {
    return (recipe_act){.size = size};
}

/** The free of a block that so many younger ones live beside, and on each lap so many more. */
static recipe_act release(uint32_t rank, int32_t growth) {
    return (recipe_act){.frees = true, .rank = (uint16_t)rank, .growth = growth};
}

static recipe_step *add(recipe *start, recipe_step_kind kind, uint32_t count) {
    recipe_step *const step = &start->step[start->steps++];
    *step = (recipe_step){.kind = (uint8_t)kind, .count = (uint16_t)count, .stride = 1};
    return step;
}

static void add_act(recipe_step *step, recipe_act act) {
    step->act[step->acts++] = act;
}

static recipe_act release_oldest(void) {
    return (recipe_act){.frees = true, .from_oldest = true};
}

/** Then the request, and the free of the oldest block or of the youngest: that lies highest. */
static void ask(recipe *start, uint32_t request, bool oldest) {
    add_act(add(start, STEP_LOOP, 1), allocation(request));
    add_act(add(start, STEP_LOOP, 1), oldest ? release_oldest() : release(0, 0));
}

static recipe low_end_split(const split *of) {
    recipe start = {0};
    add_act(add(&start, STEP_LOOP, of->laps), allocation(of->block));
    recipe_step *const step = add(&start, STEP_LOOP, of->laps);
    const uint32_t kept = (of->pieces + 1u) / 2u;
    add_act(step, of->upward ? release_oldest() : release(0, (int32_t)kept));
    for (uint32_t i = 0; i < of->pieces; i++) {
        add_act(step, allocation(of->piece));
    }
    for (uint32_t i = 1; i < kept; i++) {
        add_act(step, release(i, 0));
    }
    ask(&start, of->request, !of->upward);
    return start;
}

static void fill_and_free(recipe *start, uint32_t count, uint32_t size) {
    add_act(add(start, STEP_LOOP, count), allocation(size));
    add(start, STEP_SWEEP, count);
}

static recipe two_sizes(void) {
    recipe start = {0};
    fill_and_free(&start, 2047, 8);
    fill_and_free(&start, 1362, 16);
    ask(&start, 24, true);
    return start;
}

static recipe fenced(uint32_t block) {
    recipe start = {0};
    recipe_step *const pairs = add(&start, STEP_LOOP, 1023);
    add_act(pairs, allocation(block));
    add_act(pairs, allocation(8));
    add(&start, STEP_SWEEP, 1023)->stride = 2;
    return start;
}

static recipe fenced_in_class(void) {
    recipe start = fenced(24);
    ask(&start, 32, true);
    return start;
}

static recipe fenced_then_split(void) {
    recipe start = fenced(16);
    add_act(add(&start, STEP_LOOP, 113), allocation(56));
    recipe_step *const step = add(&start, STEP_LOOP, 113);
    add_act(step, release(0, 1));
    add_act(step, allocation(24));
    ask(&start, 8, true);
    return start;
}

static recipe spread(void) {
    recipe start = {0};
    add_act(add(&start, STEP_LOOP, RECIPE_MOST_LAPS), allocation(64));
    recipe_step *const sweep = add(&start, STEP_SWEEP, RECIPE_MOST_LAPS);
    sweep->first = 1;
    sweep->stride = 2;
    recipe_step *const doubled = add(&start, STEP_RETURN, 1);
    doubled->back = 2;
    doubled->rounds = 6;
    doubled->eighths = 16;
    return start;
}

bool starts_give(uint32_t number, bool spreads, recipe *start) {
    if (spreads) {
        *start = spread();
        return number == 0;
    }
    if (number < SPLITS) {
        *start = low_end_split(&splits[number]);
        start->patient = true;
        return true;
    }
    static recipe (*const others[])(void) = {two_sizes, fenced_in_class, fenced_then_split};
    if (number - SPLITS >= sizeof others / sizeof others[0]) {
        return false;
    }
    *start = others[number - SPLITS]();
    start->patient = true;
    return true;
}
