/**
 * A recipe: a short program whose run is a list of heap operations. It can repeat, let sizes grow,
 * free blocks in a pattern, and do all that over again with larger sizes, so that a few changes
 * lead from any heap to any other. It names no allocator and knows of none.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define RECIPE_MOST_STEPS 12
#define RECIPE_MOST_ACTS 64

/** One operation of a loop. */
typedef struct {
    bool frees;     /**< else it allocates */
    int32_t number; /**< bytes on the first lap; of a free the block: 0 the oldest that lives, 1 the
                         one behind it, -1 the youngest */
    int32_t growth; /**< to the number, on each lap */
} recipe_act;

typedef enum { ORDER_OLDEST_FIRST, ORDER_YOUNGEST_FIRST, ORDER_SHUFFLED } recipe_order;

/**
 * A loop over acts; a sweep, which frees every so many of the live blocks; or a return, which plays
 * the steps before it over again, each round with sizes that are so many times as large as in the
 * round before, and so many bytes larger. Returns among those steps are passed over.
 */
typedef enum { STEP_LOOP, STEP_SWEEP, STEP_RETURN, STEP_KINDS } recipe_step_kind;

typedef struct {
    int32_t kind;   /**< recipe_step_kind */
    int32_t count;  /**< laps of a loop, blocks of a sweep, rounds of a return */
    int32_t acts;   /**< of a loop */
    int32_t first;  /**< of a sweep: live blocks left alone, from the oldest */
    int32_t stride; /**< of a sweep */
    int32_t order;  /**< of a sweep: recipe_order */
    int32_t back;   /**< of a return: how many steps */
    int32_t halves; /**< of a return: 4 doubles the sizes */
    int32_t more;   /**< of a return: bytes more in each round */
    recipe_act act[RECIPE_MOST_ACTS];
} recipe_step;

typedef struct {
    int32_t steps;
    recipe_step step[RECIPE_MOST_STEPS];
    bool patient; /**< it may walk long to prepare what is dear (player.c) */
} recipe;

/** From `least` to `most`. */
typedef struct {
    int32_t least, most;
} recipe_range;

/** A number below `limit`, which is not 0, from splitmix64 with this state. */
uint32_t random_below(uint64_t *state, uint32_t limit);

/** The state of what all below draws from. */
extern uint64_t *recipe_source;

uint32_t draw_below(uint32_t limit);
bool one_in(uint32_t many);

/**
 * The constructions that a search begins with: those of studies/adversary/known.py, as recipes.
 * They are made for other allocators' headers than the one at hand, too; the search changes them.
 * Sets `*known` to construction `number`, of time or of space. False if there are not so many.
 */
bool recipe_known(uint32_t number, bool spreads, recipe *known);

/** A recipe from nothing; it asks for sizes of this range, in bytes. */
recipe recipe_draw(recipe_range sizes);

/**
 * A recipe like `parent`, changed in a few places; some of it may come from `other`. With `touch`
 * the changes are small: a few bytes more or less, a lap more, an act less.
 */
recipe recipe_breed(const recipe *parent, const recipe *other, recipe_range sizes, bool touch);
