/**
 * The stimulus and its answers. A timer raises the interrupt that the heap can delay, which wakes a
 * task. Another raises the control interrupt, which the kernel and the heap's default lock do not
 * mask.
 */
#pragma once

#include "bench/image.h"

/** How often each answer was given. */
typedef struct {
    uint32_t interrupts;           /**< entries of the maskable interrupt */
    uint32_t wakes;                /**< times the woken task resumed */
    uint32_t controls;             /**< entries of the control interrupt */
    uint32_t preempted_operations; /**< entries of the maskable interrupt that found OP high */
} stimulus_counts;

/** What answers: the maskable interrupt, the task that it wakes, the control interrupt. */
typedef enum { ANSWER_ISR, ANSWER_TASK, ANSWER_CONTROL, ANSWERS } answer;

/**
 * Latencies by the stimulus timer's own counter: from its last edge to a read right after the
 * answer's pin rose. Of the answers that found OP high.
 */
typedef struct {
    uint32_t number, ticks;
} latency_sum;

/** Of the answers that found OP low. Where there were none the least is UINT32_MAX, the most 0. */
typedef struct {
    uint32_t least_ticks, most_ticks;
} latency_range;

/** Creates the task that the interrupt wakes. Before the scheduler starts. */
void stimulus_create_task(void);

/**
 * Starts the timers in the mode and with the periods of `header`; a period of 0 leaves that timer
 * out.
 */
void stimulus_start(const image_header *header);

/**
 * Makes the stimulus ready for operation `seq`, which must follow at once. Periodic and burst:
 * waits for the operation's own phase; the phases of consecutive operations sweep the period
 * evenly. Sweep: waits until the last edge has come, then asks for one `offset_ticks` from now, or
 * for none if that is 0. Random, and without a stimulus: returns at once. Forgets the answers to
 * the operation before. OP is low.
 */
void stimulus_prepare(uint32_t seq, uint32_t offset_ticks);

/** True if the caller is the woken task. */
bool stimulus_task_is_running(void);

/** No further edge: STIM and CTRL keep their levels. Returns when the last one is answered. */
void stimulus_stop(void);

/** The answers to the last operation. To be read while OP is low. */
latency_sum stimulus_read_sum(answer by);

/* To be read when the stimulus is stopped. */
stimulus_counts stimulus_read_counts(void);
latency_range stimulus_read_latencies(answer by); /**< of the whole run */
