/**
 * A recipe: a short program whose run is a list of heap operations. It can repeat, let sizes grow,
 * free blocks in a pattern, and do all that over again with larger sizes, so that a few changes
 * lead from any heap to any other. It names no allocator and knows of none.
 */
#ifndef TAILSCOPE_HEAP_ADVERSARY_RECIPE_H
#define TAILSCOPE_HEAP_ADVERSARY_RECIPE_H

#include <stdbool.h>
#include <stdint.h>

#define RECIPE_MOST_STEPS 12u
#define RECIPE_MOST_ACTS 64u
#define RECIPE_MOST_LAPS 2048u
#define RECIPE_MOST_ROUNDS 16u

/** One operation of a loop. */
typedef struct {
    bool frees;       /**< else it allocates */
    bool from_oldest; /**< of a free: counts live blocks from the oldest, else from the youngest */
    uint16_t rank;    /**< of a free: how many live blocks come before the one to free */
    uint32_t size;    /**< of an allocation: bytes on the first lap */
    int32_t growth;   /**< on each lap: bytes more of an allocation, ranks more of a free */
} recipe_act;

typedef enum { ORDER_OLDEST_FIRST, ORDER_YOUNGEST_FIRST, ORDER_SHUFFLED } recipe_order;

/**
 * A loop over acts; a sweep, which frees every so many of the live blocks; or a return, which plays
 * the steps before it over again, each round with sizes that are so many times as large as in the
 * round before, and so many bytes larger. Returns among those steps are passed over.
 */
typedef enum { STEP_LOOP, STEP_SWEEP, STEP_RETURN } recipe_step_kind;

typedef struct {
    uint8_t kind;    /**< recipe_step_kind */
    uint8_t order;   /**< of a sweep: recipe_order */
    uint8_t acts;    /**< of a loop */
    uint8_t back;    /**< of a return: how many steps */
    uint8_t rounds;  /**< of a return */
    uint8_t eighths; /**< of a return: 16 doubles the sizes */
    int16_t more;    /**< of a return: bytes more in each round */
    uint16_t count;  /**< laps of a loop, blocks of a sweep */
    uint16_t first;  /**< of a sweep: live blocks left alone, from the oldest */
    uint16_t stride;
    recipe_act act[RECIPE_MOST_ACTS];
} recipe_step;

typedef struct {
    uint16_t steps;
    bool patient; /**< it may walk long to prepare what is dear (player.c) */
    recipe_step step[RECIPE_MOST_STEPS];
} recipe;

/** The sizes that recipes may ask for, bytes. */
typedef struct {
    uint32_t smallest, largest;
} recipe_sizes;

/** A source of random numbers: splitmix64, its state. */
typedef struct {
    uint64_t state;
} recipe_random;

/** A number below `limit`, which is not 0. */
uint32_t random_below(recipe_random *source, uint32_t limit);

/** A recipe from nothing. */
recipe recipe_draw(recipe_random *source, recipe_sizes sizes);

/** A recipe like `parent`, changed in a few places; some of it may come from `other`. */
recipe recipe_breed(recipe_random *source, const recipe *parent, const recipe *other,
                    recipe_sizes sizes);

/** The same, but for one small change: a few bytes more or less, a lap more, an act less. */
recipe recipe_touch(recipe_random *source, const recipe *parent, recipe_sizes sizes);

#endif
