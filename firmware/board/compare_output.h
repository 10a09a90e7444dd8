/**
 * A timer's compare channel that moves its pin in hardware. An edge needs no instruction, so
 * nothing that the firmware does can delay it. Edges come at a fixed period, in pairs, at intervals
 * that are set one ahead, or once.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint32_t timer;   /**< base address */
    uint32_t channel; /**< 1 or 2 */
    uint32_t port, pin;
    uint32_t alternate; /**< alternate function that connects the pin */
} compare_output;

extern const compare_output stimulus_output; /**< on STIM */
extern const compare_output control_output;  /**< on CTRL, where the board has a control */
extern const compare_output frame_output;    /**< on SYNC */

/** Clocks the timers of all. */
void timers_start(void);

/**
 * Stops the timer, with its output low and on its pin and its counter at 0. The first edge comes
 * `period_ticks` after compare_output_run().
 */
void compare_output_prepare(const compare_output *output, uint32_t period_ticks);

/**
 * The same, but with two edges in each period: the pin rises `spacing_ticks` before the period's
 * end and falls at the end.
 */
void compare_output_prepare_pairs(const compare_output *output, uint32_t period_ticks,
                                  uint32_t spacing_ticks);

/**
 * The same, but with one edge, a tick after each period begins. compare_output_set_next() sets the
 * period after the one under way.
 */
void compare_output_prepare_intervals(const compare_output *output, uint32_t first_ticks);

/**
 * Sets the interval after the one under way. Without a call the timer repeats the last interval.
 */
void compare_output_set_next(const compare_output *output, uint32_t ticks);

/** Stops the timer, with its output low and on its pin, until compare_output_once(). */
void compare_output_prepare_once(const compare_output *output);

/**
 * One edge of the stimulus, `ticks` after this call begins to count. The timer counts on; it is to
 * be stopped, or asked for the next edge, before it has come round: 2^32 or 2^16 ticks later.
 */
void compare_output_once(const compare_output *output, uint32_t ticks);

/** Where the edges lie in the counter's course. */
typedef struct {
    uint32_t match_count;  /**< the counter's value at the edge; of a pair, at its first */
    uint32_t return_ticks; /**< from that edge to the counter's return to 0 */
    uint32_t second_ticks; /**< of a pair, from its first edge to its second; else 0 */
} edge_course;

/** The ticks from the last edge, of a pair from its first, to when the counter was `count`. */
static inline uint32_t since_edge(const volatile edge_course *course, uint32_t count) {
    const uint32_t match = course->match_count;
    return count >= match ? count - match : count + course->return_ticks;
}

/** Lets every edge raise the timer's interrupt too. */
void compare_output_enable_interrupt(const compare_output *output);

void compare_output_run(const compare_output *output);

/** Returns when the last edge was `phase_ticks` ago, less than a period. The timer is running. */
void compare_output_await_phase(const compare_output *output, uint32_t phase_ticks);

/** No further edge; the pin keeps its level. */
void compare_output_stop(const compare_output *output);

/** True if there was an edge since the last compare_output_clear(). */
bool compare_output_matched(const compare_output *output);

/** Forgets the edges so far; returns the counter's value right behind that. */
uint32_t compare_output_clear(const compare_output *output);
