/**
 * How long an answer was waited for, by the timer that makes the edges. A wait runs from the first
 * edge that no answer has covered, and the timer's counter tells of the last one alone. So the walk
 * follows the edges by their plan, and takes from a free-running count how many have come: it need
 * only be right to half an interval. The ticks are then exact.
 */
#pragma once

#include "board/compare_output.h"

/**
 * An answer covers no edge that came fewer ticks before its handler read the counter: it may have
 * come after the pin's rise, a few ticks before the read. A core needs longer to enter a handler.
 */
enum { TOO_RECENT_TICKS = 8 };

/** Positions are ticks since any origin, modulo 2^32. Of a pair, the edge is its first. */
typedef struct {
    edge_course course;
    uint32_t interval;  /**< from the last edge to the next; 0 if each edge is asked for alone */
    uint32_t next;      /**< from that one to the one after */
    uint32_t at_cycles; /**< the free-running count at the last edge, nearly */
    uint32_t position;  /**< of the last edge */
    uint32_t uncovered; /**< position of the first edge that no answer has covered */
} edge_walk;

/** What a handler read: the timer's counter, and soon after it the free-running count. */
typedef struct {
    uint32_t count, cycles;
} edge_reading;

/** The position of a reading, which may lie some edges ahead of the walk's last. */
uint32_t edge_walk_position(const edge_walk *walk, edge_reading at);

/**
 * Walks to the reading of an answer, which covers the edges so far. Returns how long it was waited
 * for; `began` is the position where the wait began.
 */
uint32_t edge_walk_answer(edge_walk *walk, edge_reading at, uint32_t *began);

/**
 * True if an edge came after the reading, or too short before it, up to when the counter was
 * `now`: the answer that took the reading does not cover it.
 */
static inline bool edge_came_since(const volatile edge_course *course, uint32_t count,
                                   uint32_t now) {
    const uint32_t since = since_edge(course, now);
    const uint32_t span = now - count + TOO_RECENT_TICKS; /* huge if the counter has come round */
    return since < span || since - course->second_ticks < span;
}
