/**
 * Plays a recipe on the allocator that this program is linked with, and keeps the operations that
 * came of it with what each cost: the machine code of the allocator that it executed, in bytes. The
 * compiler calls a function of ours at the beginning of each basic block
 * (-fsanitize-coverage=trace-pc), so the sum is exact and the same each time. It is no forecast of
 * the board's instructions, but grows with them.
 */
#pragma once

#include "../host/trace.h"
#include "recipe.h"

/** A list has at most so many operations, and uses at most so many slots. */
#define PLAYER_MOST_OPERATIONS 32768u

/** What a list of operations is to make large. */
typedef enum { GOAL_ALLOCATE, GOAL_FREE, GOAL_USED, GOALS } player_goal;

/** What every list must keep to. */
typedef struct {
    uint32_t operations;
    uint32_t slots;      /**< blocks that are live or were refused, at one time */
    uint32_t live_bytes; /**< requested by blocks that are live or were refused */
} player_limits;

typedef struct {
    uint32_t cost;       /**< of the dearest operation, or used bytes; 0: nothing */
    uint32_t ways;       /**< tells apart sets of basic blocks that it executed; equal for equal */
    uint32_t operations; /**< up to that one, itself included */
    uint32_t peak_bytes; /**< that were live at most until then, as requested */
} player_outcome;

/** Measures the basic blocks; to be called once, before all else. */
void player_measure_blocks(void);

/**
 * Plays the recipe on a fresh heap, up to the limits. A loop ends at a refused allocation, which
 * counts as an operation too: a search in vain may be the longest.
 */
player_outcome player_play(const recipe *played, player_goal goal, const player_limits *limits);

/** The operations of what was played last. */
const trace_operation *player_operations(void);
