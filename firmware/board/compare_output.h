/**
 * A timer's compare channel that toggles its pin in hardware at a fixed period: the edge needs no
 * instruction, so nothing that the firmware does can move it.
 */
#ifndef TAILSCOPE_BOARD_COMPARE_OUTPUT_H
#define TAILSCOPE_BOARD_COMPARE_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint32_t timer;     /**< base address */
    uint32_t channel;   /**< 1 or 2 */
    uint32_t port, pin;
    uint32_t alternate; /**< alternate function that connects the pin */
} compare_output;

extern const compare_output stimulus_output; /**< TIM2_CH1 on STIM */
extern const compare_output control_output;  /**< TIM5_CH2 on CTRL */
extern const compare_output frame_output;    /**< TIM3_CH1 on SYNC */

/** Clocks TIM2, TIM3 and TIM5. */
void timers_start(void);

/**
 * Stopped, output low and on its pin, counter at 0: the first edge will come `period_ticks` after
 * compare_output_run().
 */
void compare_output_prepare(const compare_output *output, uint32_t period_ticks);

/** Lets every edge raise the timer's interrupt too. */
void compare_output_enable_interrupt(const compare_output *output);

void compare_output_run(const compare_output *output);

/** Ticks since the last edge, below the period. */
uint32_t compare_output_phase(const compare_output *output);

/** No further edge; the pin keeps its level. */
void compare_output_stop(const compare_output *output);

/** True if there was an edge since the last compare_output_clear(). */
bool compare_output_matched(const compare_output *output);

void compare_output_clear(const compare_output *output);

#endif
