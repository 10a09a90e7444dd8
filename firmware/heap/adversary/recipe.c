#include "recipe.h"

#include <string.h>

uint32_t random_below(recipe_random *source, uint32_t limit) {
    source->state += 0x9E3779B97F4A7C15u; /* splitmix64 (Steele, Lea, Flood, 2014) */
    uint64_t mixed = source->state;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((mixed ^ (mixed >> 31)) >> 32) % limit;
}

static bool one_in(recipe_random *source, uint32_t many) {
    return random_below(source, many) == 0;
}

/** From 1 to `most`; small numbers as often as large ones. */
static uint32_t any_magnitude(recipe_random *source, uint32_t most) {
    uint32_t range = most;
    while (range > 1 && random_below(source, 3) != 0) {
        range /= 2;
    }
    return 1 + random_below(source, range);
}

/* Sizes */

static uint32_t within(recipe_sizes sizes, int64_t size) {
    return size < sizes.smallest  ? sizes.smallest
           : size > sizes.largest ? sizes.largest
                                  : (uint32_t)size;
}

/** Anywhere, or near a power of two, where lists and levels of many allocators begin. */
static uint32_t draw_size(recipe_random *source, recipe_sizes sizes) {
    if (one_in(source, 2)) {
        return within(sizes, any_magnitude(source, sizes.largest));
    }
    const uint32_t power = 1u << (3 + random_below(source, 13));
    return within(sizes, (int64_t)power + 8 * ((int64_t)random_below(source, 7) - 3));
}

static uint32_t change_size(recipe_random *source, uint32_t size, recipe_sizes sizes) {
    const int64_t by = any_magnitude(source, 8);
    switch (random_below(source, 6)) {
    case 0:
        return within(sizes, (int64_t)size + by);
    case 1:
        return within(sizes, (int64_t)size - by);
    case 2:
        return within(sizes, (int64_t)size + 8 * by);
    case 3:
        return within(sizes, (int64_t)size - 8 * by);
    case 4:
        return within(sizes, one_in(source, 2) ? 2 * (int64_t)size : size / 2);
    default:
        return draw_size(source, sizes);
    }
}

static int32_t draw_growth(recipe_random *source) {
    if (!one_in(source, 3)) {
        return 0;
    }
    const int32_t by = one_in(source, 2) ? 8 * (int32_t)any_magnitude(source, 8)
                                         : (int32_t)any_magnitude(source, 64);
    return one_in(source, 2) ? by : -by;
}

/* Parts drawn from nothing */

#define DRAWN_ACTS 4u

static recipe_act draw_act(recipe_random *source, recipe_sizes sizes) {
    recipe_act act = {
        .frees = one_in(source, 4),
        .from_oldest = one_in(source, 2),
        .rank = (uint16_t)(any_magnitude(source, 64) - 1),
        .size = draw_size(source, sizes),
    };
    act.growth = act.frees ? one_in(source, 4) : draw_growth(source);
    return act;
}

static recipe_step_kind draw_kind(recipe_random *source) {
    static const recipe_step_kind kinds[] = {STEP_LOOP,  STEP_LOOP,  STEP_LOOP,  STEP_LOOP,
                                             STEP_SWEEP, STEP_SWEEP, STEP_SWEEP, STEP_RETURN};
    return kinds[random_below(source, 8)];
}

/** Half as large, equal, half as large again and twice as large, as often as all between. */
static uint8_t draw_eighths(recipe_random *source) {
    return (uint8_t)(one_in(source, 2) ? 4u * (1u + random_below(source, 4))
                                       : 4u + random_below(source, 21));
}

static int16_t draw_more(recipe_random *source) {
    return (int16_t)(one_in(source, 2) ? 0 : 8 * ((int32_t)random_below(source, 9) - 4));
}

static recipe_step draw_step(recipe_random *source, recipe_sizes sizes) {
    recipe_step step = {
        .kind = (uint8_t)draw_kind(source),
        .order = (uint8_t)random_below(source, 3),
        .acts = (uint8_t)(1 + random_below(source, DRAWN_ACTS)),
        .count = (uint16_t)any_magnitude(source, RECIPE_MOST_LAPS),
        .first = (uint16_t)(any_magnitude(source, 16) - 1),
        .stride = (uint16_t)any_magnitude(source, 8),
        .back = (uint8_t)(1 + random_below(source, 4)),
        .rounds = (uint8_t)any_magnitude(source, RECIPE_MOST_ROUNDS),
        .eighths = draw_eighths(source),
        .more = draw_more(source),
    };
    for (uint32_t i = 0; i < DRAWN_ACTS; i++) {
        step.act[i] = draw_act(source, sizes);
    }
    return step;
}

recipe recipe_draw(recipe_random *source, recipe_sizes sizes) {
    recipe drawn = {.steps = (uint16_t)(2 + random_below(source, 4))};
    for (uint32_t i = 0; i < drawn.steps; i++) {
        drawn.step[i] = draw_step(source, sizes);
    }
    return drawn;
}

/* Changes */

static uint16_t change_count(recipe_random *source, uint32_t count, uint32_t most) {
    uint32_t changed = any_magnitude(source, most);
    switch (random_below(source, 7)) {
    case 0:
        changed = count + 1;
        break;
    case 1:
        changed = count - 1;
        break;
    case 2:
        changed = 2 * count;
        break;
    case 3:
        changed = count / 2;
        break;
    case 4:
        changed = count + count / 8 + 1;
        break;
    case 5:
        changed = most;
        break;
    default:
        break;
    }
    return (uint16_t)(changed > most ? most : changed);
}

static void change_act(recipe_random *source, recipe_step *step, recipe_sizes sizes) {
    recipe_act *const act = &step->act[random_below(source, step->acts)];
    switch (random_below(source, 6)) {
    case 0:
        *act = draw_act(source, sizes);
        break;
    case 1:
        act->growth = act->frees ? one_in(source, 2) : draw_growth(source);
        break;
    case 2:
        act->rank = change_count(source, act->rank, RECIPE_MOST_LAPS - 1u);
        break;
    case 3: /* nearly as large as another */
        act->size = change_size(source, step->act[random_below(source, step->acts)].size, sizes);
        break;
    default:
        act->size = change_size(source, act->size, sizes);
        break;
    }
}

/** Doubles one act; then the two may come to differ. */
static void insert_act(recipe_random *source, recipe_step *step, recipe_sizes sizes) {
    if (step->acts == RECIPE_MOST_ACTS) {
        return;
    }
    const uint32_t at = random_below(source, step->acts);
    memmove(&step->act[at + 1], &step->act[at], (step->acts - at) * sizeof step->act[0]);
    step->acts++;
    recipe_act *const changed = &step->act[at + random_below(source, 2)];
    changed->size = change_size(source, changed->size, sizes);
}

static void drop_act(recipe_random *source, recipe_step *step) {
    if (step->acts > 1) {
        const uint32_t at = random_below(source, step->acts);
        step->acts--;
        memmove(&step->act[at], &step->act[at + 1], (step->acts - at) * sizeof step->act[0]);
    }
}

static void change_loop(recipe_random *source, recipe_step *step, recipe_sizes sizes) {
    switch (random_below(source, 8)) {
    case 0:
        insert_act(source, step, sizes);
        break;
    case 1:
        drop_act(source, step);
        break;
    case 2:
    case 3:
        step->count = change_count(source, step->count, RECIPE_MOST_LAPS);
        break;
    default:
        change_act(source, step, sizes);
        break;
    }
}

static void change_sweep(recipe_random *source, recipe_step *step) {
    switch (random_below(source, 4)) {
    case 0:
        step->first = change_count(source, step->first, RECIPE_MOST_LAPS - 1u);
        break;
    case 1:
        step->stride = (uint16_t)any_magnitude(source, 16);
        break;
    case 2:
        step->order = (uint8_t)random_below(source, 3);
        break;
    default:
        step->count = change_count(source, step->count, RECIPE_MOST_LAPS);
        break;
    }
}

static void change_return(recipe_random *source, recipe_step *step) {
    switch (random_below(source, 4)) {
    case 0:
        step->back = (uint8_t)(1 + random_below(source, 6));
        break;
    case 1:
        step->eighths = draw_eighths(source);
        break;
    case 2:
        step->more = draw_more(source);
        break;
    default:
        step->rounds = (uint8_t)change_count(source, step->rounds, RECIPE_MOST_ROUNDS);
        break;
    }
}

static void change_step(recipe_random *source, recipe_step *step, recipe_sizes sizes) {
    switch (step->kind) {
    case STEP_LOOP:
        change_loop(source, step, sizes);
        break;
    case STEP_SWEEP:
        change_sweep(source, step);
        break;
    default:
        change_return(source, step);
        break;
    }
}

static void insert_step(recipe *changed, uint32_t at, const recipe_step *step) {
    if (changed->steps == RECIPE_MOST_STEPS) {
        changed->step[at] = *step;
        return;
    }
    memmove(&changed->step[at + 1], &changed->step[at],
            (changed->steps - at) * sizeof changed->step[0]);
    changed->step[at] = *step;
    changed->steps++;
}

static void drop_step(recipe *changed, uint32_t at) {
    if (changed->steps > 1) {
        changed->steps--;
        memmove(&changed->step[at], &changed->step[at + 1],
                (changed->steps - at) * sizeof changed->step[0]);
    }
}

/** The steps of `other` from a random place on take the place of those from `at` on. */
static void splice(recipe_random *source, recipe *changed, uint32_t at, const recipe *other) {
    uint32_t from = random_below(source, other->steps);
    while (at < RECIPE_MOST_STEPS && from < other->steps) {
        changed->step[at++] = other->step[from++];
    }
    changed->steps = (uint16_t)at;
}

/** The same on a larger scale. */
static void enlarge(recipe_random *source, recipe *changed) {
    const uint32_t eighths = 9u + random_below(source, 16);
    for (uint32_t i = 0; i < changed->steps; i++) {
        const uint32_t count = changed->step[i].count * eighths / 8u;
        if (changed->step[i].count > 1) {
            changed->step[i].count =
                (uint16_t)(count > RECIPE_MOST_LAPS ? RECIPE_MOST_LAPS : count);
        }
    }
}

/** The same with all blocks half or twice as large, or by as much larger or smaller. */
static void resize(recipe_random *source, recipe *changed, recipe_sizes sizes) {
    const uint32_t way = random_below(source, 4);
    const int64_t by = 8 * (int64_t)any_magnitude(source, 4);
    for (uint32_t i = 0; i < changed->steps; i++) {
        for (uint32_t j = 0; j < RECIPE_MOST_ACTS; j++) {
            uint32_t *const size = &changed->step[i].act[j].size;
            *size = within(sizes, way == 0   ? *size / 2
                                  : way == 1 ? 2 * (int64_t)*size
                                  : way == 2 ? *size - by
                                             : *size + by);
        }
    }
}

static void change_once(recipe_random *source, recipe *changed, const recipe *other,
                        recipe_sizes sizes) {
    const uint32_t at = random_below(source, changed->steps);
    recipe_step *const step = &changed->step[at];
    const recipe_step copy = changed->step[random_below(source, changed->steps)];
    const recipe_step drawn = draw_step(source, sizes);
    switch (random_below(source, 16)) {
    case 0:
        insert_step(changed, random_below(source, changed->steps), &drawn);
        break;
    case 1:
        insert_step(changed, random_below(source, changed->steps), &copy);
        break;
    case 2:
        drop_step(changed, at);
        break;
    case 3:
        *step = drawn;
        break;
    case 4:
        splice(source, changed, at, other);
        break;
    case 5: /* at the end, where it meets the heap that all before it made */
        if (changed->steps < RECIPE_MOST_STEPS) {
            changed->step[changed->steps++] = drawn;
        }
        break;
    case 6:
        enlarge(source, changed);
        break;
    case 7:
        resize(source, changed, sizes);
        break;
    default:
        change_step(source, step, sizes);
        break;
    }
}

recipe recipe_breed(recipe_random *source, const recipe *parent, const recipe *other,
                    recipe_sizes sizes) {
    recipe changed = *parent;
    changed.patient = false;
    do {
        change_once(source, &changed, other, sizes);
    } while (!one_in(source, 2));
    return changed;
}

/* Small changes */

/** One more or one less, from `least` to `most`. */
static uint16_t near(recipe_random *source, uint32_t count, uint32_t least, uint32_t most) {
    const uint32_t changed = one_in(source, 2) ? count + 1u : count > 0 ? count - 1u : 0;
    return (uint16_t)(changed < least ? least : changed > most ? most : changed);
}

static int32_t few_bytes(recipe_random *source) {
    const int32_t by = one_in(source, 2) ? 8 : 1 + (int32_t)random_below(source, 8);
    return one_in(source, 2) ? by : -by;
}

static void touch_act(recipe_random *source, recipe_act *act, recipe_sizes sizes) {
    if (!act->frees) {
        if (one_in(source, 4)) {
            act->growth += few_bytes(source);
        } else {
            act->size = within(sizes, (int64_t)act->size + few_bytes(source));
        }
    } else if (one_in(source, 4)) {
        act->from_oldest = !act->from_oldest;
    } else {
        act->rank = near(source, act->rank, 0, RECIPE_MOST_LAPS - 1u);
    }
}

static void touch_loop(recipe_random *source, recipe_step *step, recipe_sizes sizes) {
    switch (random_below(source, 8)) {
    case 0:
        drop_act(source, step);
        break;
    case 1:
    case 2:
        step->count = near(source, step->count, 1, RECIPE_MOST_LAPS);
        break;
    default:
        touch_act(source, &step->act[random_below(source, step->acts)], sizes);
        break;
    }
}

static void touch_sweep(recipe_random *source, recipe_step *step) {
    switch (random_below(source, 4)) {
    case 0:
        step->first = near(source, step->first, 0, RECIPE_MOST_LAPS - 1u);
        break;
    case 1:
        step->stride = near(source, step->stride, 1, 16);
        break;
    case 2:
        step->order = (uint8_t)random_below(source, 3);
        break;
    default:
        step->count = near(source, step->count, 1, RECIPE_MOST_LAPS);
        break;
    }
}

static void touch_return(recipe_random *source, recipe_step *step) {
    switch (random_below(source, 4)) {
    case 0:
        step->rounds = (uint8_t)near(source, step->rounds, 1, RECIPE_MOST_ROUNDS);
        break;
    case 1:
        step->eighths = (uint8_t)near(source, step->eighths, 4, 24);
        break;
    default:
        step->more = (int16_t)(step->more + few_bytes(source));
        break;
    }
}

recipe recipe_touch(recipe_random *source, const recipe *parent, recipe_sizes sizes) {
    recipe changed = *parent;
    const uint32_t at = random_below(source, changed.steps);
    recipe_step *const step = &changed.step[at];
    if (one_in(source, 16)) {
        drop_step(&changed, at);
    } else if (step->kind == STEP_LOOP) {
        touch_loop(source, step, sizes);
    } else if (step->kind == STEP_SWEEP) {
        touch_sweep(source, step);
    } else {
        touch_return(source, step);
    }
    return changed;
}
