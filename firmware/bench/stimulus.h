/**
 * The stimulus and its answers. TIM2 asks the interrupt that the heap can delay, which wakes a task; TIM5
 * asks the control interrupt, which nothing masks.
 */
#ifndef TAILSCOPE_BENCH_STIMULUS_H
#define TAILSCOPE_BENCH_STIMULUS_H

#include <stdint.h>

/** How often each answer was given. */
typedef struct {
    uint32_t interrupts;           /**< entries of the maskable interrupt */
    uint32_t wakes;                /**< times the woken task resumed */
    uint32_t controls;             /**< entries of the control interrupt */
    uint32_t preempted_operations; /**< entries of the maskable interrupt that found OP high */
} stimulus_counts;

/** Creates the task that the interrupt wakes. Before the scheduler starts. */
void stimulus_create_task(void);

/** Starts both timers, each with its period in timer ticks; 0 leaves that one out. */
void stimulus_start(uint32_t stimulus_period_ticks, uint32_t control_period_ticks);

/**
 * Returns when the stimulus has reached the phase at which operation `seq` is to begin; at once without a
 * stimulus. The phases of consecutive operations sweep the period evenly.
 */
void stimulus_await_phase(uint32_t seq);

/** No further edge: STIM and CTRL keep their levels. */
void stimulus_stop(void);

/** To be read when the stimulus is stopped. */
stimulus_counts stimulus_read_counts(void);

#endif
