#include "recipe.h"

#include <string.h>

/* What is known */

#define ALLOCATE(bytes) \
    { false, bytes, 0 }
#define FREE(block, growth) \
    { true, block, growth }
#define LOOP(laps, ...) \
    { \
        .kind = STEP_LOOP, .count = laps, \
        .acts = sizeof((recipe_act[]){__VA_ARGS__}) / sizeof(recipe_act), .act = { \
            __VA_ARGS__ \
        } \
    }
#define SWEEP(blocks, ...) \
    { .kind = STEP_SWEEP, .count = blocks, .acts = 1, __VA_ARGS__ }

#define RECIPE(many, ...) \
    { \
        .steps = many, .step = { __VA_ARGS__ } \
    }

/* Blocks that are split from one end, pieces of them, then the request and a free. */
#define SPLIT(block, piece, request, laps, from, last) \
    RECIPE(4, LOOP(laps, ALLOCATE(block)), LOOP(laps, from, ALLOCATE(piece)), \
           LOOP(1, ALLOCATE(request)), LOOP(1, last))
#define FROM_TOP FREE(-1, -1)
#define FOUR(from) FREE(from, 0), FREE(from - 1, 0), FREE(from - 2, 0), FREE(from - 3, 0)
#define FENCED(block) LOOP(1023, ALLOCATE(block), ALLOCATE(8)), SWEEP(1023, .stride = 2)

/* clang-format off */
/* studies/adversary/known.py says for which header each is made. */
static const recipe of_time[] = {
    SPLIT(32, 8, 16, 1364, FROM_TOP, FREE(0, 0)),
    RECIPE(4, LOOP(101, ALLOCATE(640)),
           LOOP(101, FREE(-1, -20), [1 ... 39] = ALLOCATE(8), FOUR(-2), FOUR(-6), FOUR(-10),
                FOUR(-14), FREE(-18, 0), FREE(-19, 0), FREE(-20, 0)),
           LOOP(1, ALLOCATE(24)), LOOP(1, FREE(0, 0))),
    SPLIT(16, 8, 8, 2046, FROM_TOP, FREE(0, 0)),
    SPLIT(20, 8, 8, 2046, FREE(0, 0), FREE(-1, 0)),
    SPLIT(20, 12, 4, 2046, FROM_TOP, FREE(0, 0)),
    RECIPE(6, LOOP(2047, ALLOCATE(8)), SWEEP(2047, .stride = 1), LOOP(1362, ALLOCATE(16)),
           SWEEP(1362, .stride = 1), LOOP(1, ALLOCATE(24)), LOOP(1, FREE(0, 0))),
    RECIPE(4, FENCED(24), LOOP(1, ALLOCATE(32)), LOOP(1, FREE(0, 0))),
    RECIPE(6, FENCED(16), LOOP(113, ALLOCATE(56)), LOOP(113, FREE(-1, -1), ALLOCATE(24)),
           LOOP(1, ALLOCATE(8)), LOOP(1, FREE(0, 0))),
};

/* Robson's: blocks of one size, every other of them freed, then blocks of twice the size. */
static const recipe of_space =
    RECIPE(3, LOOP(2048, ALLOCATE(64)), SWEEP(2048, .first = 1, .stride = 2),
           {.kind = STEP_RETURN, .acts = 1, .count = 6, .back = 2, .halves = 4});
/* clang-format on */

bool recipe_known(uint32_t number, bool spreads, recipe *known) {
    if (number >= (spreads ? 1u : sizeof of_time / sizeof of_time[0])) {
        return false;
    }
    *known = spreads ? of_space : of_time[number];
    known->patient = !spreads;
    return true;
}

/* Numbers */

static const recipe_range laps = {1, 2048}, rounds = {1, 16}, ranks = {-2048, 2047};
static const recipe_range bytes_more = {-512, 512}, ranks_more = {-1, 1};

uint32_t random_below(uint64_t *state, uint32_t limit) {
    *state += 0x9E3779B97F4A7C15u; /* splitmix64 (Steele, Lea, Flood, 2014) */
    uint64_t mixed = *state;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((mixed ^ (mixed >> 31)) >> 32) % limit;
}

uint64_t *recipe_source;

uint32_t draw_below(uint32_t limit) {
    return random_below(recipe_source, limit);
}

bool one_in(uint32_t many) {
    return draw_below(many) == 0;
}

/** From 1 to `most`; small numbers as often as large ones. */
static int32_t any_magnitude(int32_t most) {
    uint32_t range = (uint32_t)most;
    while (range > 1 && draw_below(3) != 0) {
        range /= 2;
    }
    return (int32_t)(1 + draw_below(range));
}

static int32_t within(recipe_range range, int64_t number) {
    return number < range.least ? range.least : number > range.most ? range.most : (int32_t)number;
}

static int32_t either_sign(int32_t number) {
    return one_in(2) ? number : -number;
}

/** Anywhere, or near a power of two, where lists and levels of many allocators begin; of what is
 * added to sizes, often whole eights. */
static int32_t draw(recipe_range range) {
    int32_t drawn = any_magnitude(range.most);
    const bool is_round = one_in(2);
    if (is_round && range.most > laps.most) {
        drawn = (1 << (3 + draw_below(13))) + 8 * ((int32_t)draw_below(7) - 3);
    }
    if (range.least < 0) {
        drawn = either_sign(is_round ? drawn / 8 * 8 : drawn);
    }
    return within(range, drawn);
}

/** A little, as much again or half, to the most or to anything; with `touch` a little only. */
static void change(int32_t *number, recipe_range range, bool touch) {
    const int64_t now = *number;
    const int32_t by = either_sign(any_magnitude(8));
    const uint32_t how = draw_below(touch ? 2 : 5);
    const bool counts = range.most <= laps.most;
    *number = how == 0             ? within(range, now + by)
              : how == 1           ? within(range, now + (touch && counts ? by / 8 : 8 * by))
              : how == 2           ? within(range, one_in(2) ? 2 * now : now / 2)
              : how == 3 && counts ? range.most
                                   : draw(range);
}

/* Parts drawn from nothing */

static recipe_act draw_act(recipe_range sizes) {
    const bool frees = one_in(4);
    const bool grows = one_in(3);
    return (recipe_act){
        .frees = frees,
        .number = frees ? either_sign(any_magnitude(64)) : draw(sizes),
        .growth = grows ? draw(frees ? ranks_more : bytes_more) : 0,
    };
}

static recipe_step draw_step(recipe_range sizes) {
    const uint32_t kind = draw_below(8);
    recipe_step step = {
        .kind = kind < 4   ? STEP_LOOP
                : kind < 7 ? STEP_SWEEP
                           : STEP_RETURN,
        .acts = 1 + (int32_t)draw_below(4),
        .first = any_magnitude(16) - 1,
        .stride = any_magnitude(8),
        .order = (int32_t)draw_below(3),
        .back = 1 + (int32_t)draw_below(4),
        .halves = 1 + (int32_t)draw_below(6),
        .more = draw((recipe_range){-32, 32}),
    };
    step.count = draw(step.kind == STEP_RETURN ? rounds : laps);
    for (int32_t i = 0; i < step.acts; i++) {
        step.act[i] = draw_act(sizes);
    }
    return step;
}

recipe recipe_draw(recipe_range sizes) {
    recipe drawn = {.steps = 2 + (int32_t)draw_below(4)};
    for (int32_t i = 0; i < drawn.steps; i++) {
        drawn.step[i] = draw_step(sizes);
    }
    return drawn;
}

/* Changes */

static void change_number(recipe_step *step, recipe_range sizes, bool touch) {
    recipe_act *const act = &step->act[draw_below((uint32_t)step->acts)];
    const struct {
        int32_t *number;
        recipe_range range;
    } numbers[STEP_KINDS][4] = {
        {{&step->count, laps},
         {&act->number, act->frees ? ranks : sizes},
         {&act->number, act->frees ? ranks : sizes},
         {&act->growth, act->frees ? ranks_more : bytes_more}},
        {{&step->count, laps},
         {&step->first, {0, 2047}},
         {&step->stride, {1, 16}},
         {&step->order, {0, 2}}},
        {{&step->count, rounds},
         {&step->back, {1, 6}},
         {&step->halves, {1, 6}},
         {&step->more, {-64, 64}}},
    };
    const uint32_t which = draw_below(4);
    change(numbers[step->kind][which].number, numbers[step->kind][which].range, touch);
}

/** Drops an act, or doubles it: then the two may come to differ. */
static void change_acts(recipe_step *step, recipe_range sizes, bool drops) {
    recipe_act *const at = &step->act[draw_below((uint32_t)step->acts)];
    const size_t behind = (size_t)(&step->act[step->acts] - at);
    if (drops && step->acts > 1) {
        step->acts--;
        memmove(at, at + 1, (behind - 1) * sizeof *at);
    } else if (!drops && step->acts < RECIPE_MOST_ACTS) {
        step->acts++;
        memmove(at + 1, at, behind * sizeof *at);
        change(&at->number, at->frees ? ranks : sizes, false);
    }
}

/** Where there is no more room it takes the place of another. */
static void insert_step(recipe *changed, uint32_t at, const recipe_step *step) {
    const recipe_step inserted = *step;
    if (changed->steps == RECIPE_MOST_STEPS) {
        changed->steps--;
        at -= at == RECIPE_MOST_STEPS;
    }
    memmove(&changed->step[at + 1], &changed->step[at],
            ((uint32_t)changed->steps - at) * sizeof inserted);
    changed->step[at] = inserted;
    changed->steps++;
}

static void drop_step(recipe *changed, uint32_t at) {
    if (changed->steps > 1) {
        changed->steps--;
        memmove(&changed->step[at], &changed->step[at + 1],
                ((uint32_t)changed->steps - at) * sizeof changed->step[0]);
    }
}

/** The steps of `other` from a random place on take the place of those from `at` on. */
static void splice(recipe *changed, uint32_t at, const recipe *other) {
    int32_t from = (int32_t)draw_below((uint32_t)other->steps);
    while (at < RECIPE_MOST_STEPS && from < other->steps) {
        changed->step[at++] = other->step[from++];
    }
    changed->steps = (int32_t)at;
}

/** The same with all counts, or all blocks, so many times as large; of blocks some bytes more. */
static void scale(recipe *changed, recipe_range sizes) {
    const bool longer = one_in(2);
    const int64_t eighths = 4 + draw_below(21);
    const int64_t more = 8 * ((int64_t)draw_below(9) - 4);
    for (int32_t i = 0; i < changed->steps; i++) {
        recipe_step *const step = &changed->step[i];
        if (longer && step->count > 1) {
            step->count = within(laps, step->count * eighths / 8);
        }
        for (int32_t j = 0; !longer && j < step->acts; j++) {
            if (!step->act[j].frees) {
                step->act[j].number = within(sizes, step->act[j].number * eighths / 8 + more);
            }
        }
    }
}

recipe recipe_breed(const recipe *parent, const recipe *other, recipe_range sizes, bool touch) {
    recipe changed = *parent;
    changed.patient = false;
    do {
        const uint32_t at = draw_below((uint32_t)changed.steps);
        recipe_step *const step = &changed.step[at];
        const recipe_step drawn = draw_step(sizes);
        switch (draw_below(touch ? 8 : 16)) {
        case 0:
            drop_step(&changed, at);
            break;
        case 1:
            change_acts(step, sizes, touch || one_in(2));
            break;
        case 8:
            insert_step(&changed, draw_below((uint32_t)changed.steps), step);
            break;
        case 9:
            insert_step(&changed, at, &drawn);
            break;
        case 10: /* at the end, where it meets the heap that all before it made */
            insert_step(&changed, (uint32_t)changed.steps, &drawn);
            break;
        case 11:
            splice(&changed, at, other);
            break;
        case 12:
            scale(&changed, sizes);
            break;
        default:
            change_number(step, sizes, touch);
            break;
        }
    } while (!one_in(2));
    return changed;
}
