#include "bench/edge_walk.h"

static void step(edge_walk *walk) {
    walk->position += walk->interval;
    walk->interval = walk->next;
}

uint32_t edge_walk_to(edge_walk *walk, edge_reading at) {
    const uint32_t edge_cycles = at.cycles - since_edge(&walk->course, at.count);
    uint32_t passed = edge_cycles - walk->at_cycles;
    walk->at_cycles = edge_cycles;
    /* Of two readings after one edge, the later may have its count read sooner. */
    if (0u - passed < walk->interval) {
        passed = 0;
    }
    while (walk->interval != 0u && passed >= walk->interval - walk->interval / 2u) {
        passed = passed > walk->interval ? passed - walk->interval : 0u;
        step(walk);
    }
    return edge_walk_position(walk, at);
}

uint32_t edge_walk_answer(edge_walk *walk, edge_reading at) {
    const uint32_t began = walk->uncovered;
    uint32_t position = edge_walk_to(walk, at);
    if (walk->interval == 0u) {
        return began;
    }
    /* An edge has come, even if a debugger stopped the free-running count meanwhile. */
    while ((int32_t)(position - began) < 0) {
        step(walk);
        position = edge_walk_position(walk, at);
    }
    const uint32_t second = walk->course.second_ticks;
    const uint32_t since = position - walk->position;
    if (since < TOO_RECENT_TICKS) {
        walk->uncovered = walk->position;
    } else if (since - TOO_RECENT_TICKS < second) {
        walk->uncovered = walk->position + second;
    } else {
        walk->uncovered = walk->position + walk->interval;
    }
    return began;
}
