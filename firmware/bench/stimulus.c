#include "bench/stimulus.h"

#include "FreeRTOS.h"
#include "bench/task_priorities.h"
#include "board/compare_output.h"
#include "board/cycle_counter.h"
#include "board/nvic.h"
#include "board/pins.h"
#include "task.h"

enum { STACK_WORDS = 128 };

/* Half a microsecond of work per wake: an analyzer at 24 MS/s samples the pulse on TASK twelve
 * times. */
enum { WORK_CYCLES = 42 };

/* A seed has 16 bits, so no seed makes the generator's state 0, where it would stay. */
enum { RANDOM_ORIGIN = 0x5DEECE66 };

static TaskHandle_t woken_task;
static StaticTask_t woken_task_control;
static StackType_t woken_task_stack[STACK_WORDS];
static volatile stimulus_counts counts;
static stimulus_mode mode;
static uint32_t period; /* of the stimulus, in ticks; 0 without one */
static uint32_t random_state;

/* interrupt_entry.S raises the pin, then branches here. */
void stimulus_interrupt(void);
void control_interrupt(void);

void stimulus_interrupt(void) {
    compare_output_clear(&stimulus_output);
    counts.interrupts++;
    if (pin_is_high(OP_PORT, OP_PIN)) {
        counts.preempted_operations++;
    }
    BaseType_t switch_required = pdFALSE;
    vTaskNotifyGiveFromISR(woken_task, &switch_required);
    portYIELD_FROM_ISR(switch_required);
    pin_write(ISR_PORT, ISR_PIN, false);
}

/* Above configMAX_SYSCALL_INTERRUPT_PRIORITY: the kernel may not be called here. */
void control_interrupt(void) {
    compare_output_clear(&control_output);
    counts.controls++;
    pin_write(CISR_PORT, CISR_PIN, false);
}

/* xorshift32 (Marsaglia, Xorshift RNGs, 2003: shifts 13, 17, 5), scaled to an interval from half a
 * period to less than one and a half. */
static uint32_t draw_interval(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return period / 2u + (uint32_t)((uint64_t)random_state * period >> 32);
}

static void answer_stimulus(void *unused) {
    (void)unused;
    for (;;) {
        (void)ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
        pin_write(TASK_PORT, TASK_PIN, true);
        counts.wakes++;
        cycle_counter_wait(WORK_CYCLES);
        pin_write(TASK_PORT, TASK_PIN, false);
        if (mode == STIMULUS_RANDOM) {
            compare_output_set_next(&stimulus_output, draw_interval());
        }
    }
}

void stimulus_create_task(void) {
    woken_task = xTaskCreateStatic(answer_stimulus, "woken", STACK_WORDS, NULL, TASK_PRIORITY_WOKEN,
                                   woken_task_stack, &woken_task_control);
}

static void start_stimulus(const image_header *header) {
    switch (header->stimulus_mode) {
    case STIMULUS_SWEEP:
        compare_output_prepare_once(&stimulus_output);
        compare_output_enable_interrupt(&stimulus_output);
        return;
    case STIMULUS_RANDOM:
        random_state = RANDOM_ORIGIN ^ header->stimulus_parameter;
        compare_output_prepare_intervals(&stimulus_output, draw_interval());
        break;
    case STIMULUS_BURST:
        compare_output_prepare_pairs(&stimulus_output, period, header->stimulus_parameter);
        break;
    default:
        compare_output_prepare(&stimulus_output, period);
    }
    compare_output_enable_interrupt(&stimulus_output);
    compare_output_run(&stimulus_output);
}

void stimulus_start(const image_header *header) {
    mode = (stimulus_mode)header->stimulus_mode;
    period = header->stimulus_period_ticks;
    interrupt_enable(IRQ_TIM2, PRIORITY_STIMULUS);
    interrupt_enable(IRQ_TIM5, PRIORITY_CONTROL);
    if (period != 0u || mode == STIMULUS_SWEEP) {
        start_stimulus(header);
    }
    if (header->control_period_ticks != 0u) {
        compare_output_prepare(&control_output, header->control_period_ticks);
        compare_output_enable_interrupt(&control_output);
        compare_output_run(&control_output);
    }
}

/* Multiples of the golden ratio, modulo 1, divide an interval as evenly as possible, however many
 * there are (Knuth, The Art of Computer Programming 3, section 6.4, theorem S). Here 2^32 stands
 * for 1. */
static uint32_t swept_phase(uint32_t seq) {
    const uint32_t golden_ratio = 0x9E3779B9u;
    return (uint32_t)((uint64_t)(seq * golden_ratio) * period >> 32);
}

bool stimulus_task_is_running(void) {
    return xTaskGetCurrentTaskHandle() == woken_task;
}

/* Usually the last edge came long before its operation's record was sent, and there is no wait. */
static void arm(uint32_t offset_ticks) {
    while (compare_output_is_running(&stimulus_output)) {}
    if (offset_ticks != 0u) {
        compare_output_once(&stimulus_output, offset_ticks);
    }
}

void stimulus_prepare(uint32_t seq, uint32_t offset_ticks) {
    if (mode == STIMULUS_SWEEP) {
        arm(offset_ticks);
    } else if (mode != STIMULUS_RANDOM && period != 0u) {
        compare_output_await_phase(&stimulus_output, swept_phase(seq));
    }
}

/* Waits for a swept edge that is still to come: its answer belongs to the run. */
void stimulus_stop(void) {
    while (mode == STIMULUS_SWEEP && compare_output_is_running(&stimulus_output)) {}
    compare_output_stop(&stimulus_output);
    compare_output_stop(&control_output);
}

stimulus_counts stimulus_read_counts(void) {
    return counts;
}
