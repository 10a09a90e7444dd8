#include "bench/edge_walk.h"

static inline void step(edge_walk *walk) {
    walk->position += walk->interval;
    walk->interval = walk->next;
}

/* From the walk's last edge to the one before the reading, nearly. Of two readings after one edge,
 * the later may have its count read sooner. */
static inline uint32_t passed_cycles(const edge_walk *walk, uint32_t edge_cycles) {
    const uint32_t passed = edge_cycles - walk->at_cycles;
    return 0u - passed < walk->interval ? 0u : passed;
}

static inline bool another_passed(uint32_t passed, uint32_t interval) {
    return interval != 0u && passed >= interval - interval / 2u;
}

uint32_t edge_walk_position(const edge_walk *walk, edge_reading at) {
    const uint32_t since = since_edge(&walk->course, at.count);
    uint32_t passed = passed_cycles(walk, at.cycles - since);
    uint32_t position = walk->position + since;
    for (uint32_t interval = walk->interval; another_passed(passed, interval);
         interval = walk->next) {
        passed = passed > interval ? passed - interval : 0u;
        position += interval;
    }
    return position;
}

uint32_t edge_walk_answer(edge_walk *walk, edge_reading at, uint32_t *began) {
    const uint32_t since = since_edge(&walk->course, at.count);
    uint32_t passed = passed_cycles(walk, at.cycles - since);
    walk->at_cycles = at.cycles - since;
    *began = walk->uncovered;
    while (another_passed(passed, walk->interval)) {
        passed = passed > walk->interval ? passed - walk->interval : 0u;
        step(walk);
    }
    /* An edge has come, even if a debugger stopped the free-running count meanwhile. */
    while (walk->interval != 0u && (int32_t)(walk->position + since - *began) < 0) {
        step(walk);
    }
    if (since < TOO_RECENT_TICKS) {
        walk->uncovered = walk->position;
    } else if (since - TOO_RECENT_TICKS < walk->course.second_ticks) {
        walk->uncovered = walk->position + walk->course.second_ticks;
    } else {
        walk->uncovered = walk->position + walk->interval;
    }
    return walk->position + since - *began;
}
