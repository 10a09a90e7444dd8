#include "bench/stimulus.h"

#include "FreeRTOS.h"
#include "bench/task_priorities.h"
#include "board/compare_output.h"
#include "board/cycle_counter.h"
#include "board/nvic.h"
#include "board/pins.h"
#include "task.h"

enum { STACK_WORDS = 128 };

/* Half a microsecond of work per wake: an analyzer at 24 MS/s samples the pulse on TASK twelve times. */
enum { WORK_CYCLES = 42 };

static TaskHandle_t woken_task;
static StaticTask_t woken_task_control;
static StackType_t woken_task_stack[STACK_WORDS];
static volatile stimulus_counts counts;
static uint32_t phases; /* ticks in a period of the stimulus; 0 without one */

/* The pins are raised by interrupt_entry.S, which branches here. */
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

static void answer_stimulus(void *unused) {
    (void)unused;
    for (;;) {
        (void)ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
        pin_write(TASK_PORT, TASK_PIN, true);
        counts.wakes++;
        cycle_counter_wait(WORK_CYCLES);
        pin_write(TASK_PORT, TASK_PIN, false);
    }
}

void stimulus_create_task(void) {
    woken_task = xTaskCreateStatic(answer_stimulus, "woken", STACK_WORDS, NULL, TASK_PRIORITY_WOKEN,
                                   woken_task_stack, &woken_task_control);
}

static void start(const compare_output *output, uint32_t period_ticks) {
    if (period_ticks != 0u) {
        compare_output_prepare(output, period_ticks);
        compare_output_enable_interrupt(output);
        compare_output_run(output);
    }
}

void stimulus_start(uint32_t stimulus_period_ticks, uint32_t control_period_ticks) {
    phases = stimulus_period_ticks;
    interrupt_enable(IRQ_TIM2, PRIORITY_STIMULUS);
    interrupt_enable(IRQ_TIM5, PRIORITY_CONTROL);
    start(&stimulus_output, stimulus_period_ticks);
    start(&control_output, control_period_ticks);
}

/* Multiples of the golden ratio, modulo 1, divide an interval as evenly as can be after every number of steps
 * (Knuth, The Art of Computer Programming 3, section 6.4, theorem S). Here 1 is 2^32. */
static uint32_t swept_phase(uint32_t seq) {
    const uint32_t golden_ratio = 0x9E3779B9u;
    return (uint32_t)((uint64_t)(seq * golden_ratio) * phases >> 32);
}

static uint32_t ticks_after(uint32_t phase) {
    const uint32_t now = compare_output_phase(&stimulus_output);
    return now >= phase ? now - phase : now + phases - phase;
}

/* The phase is reached when the distance from it falls back: also when an interrupt hid the very tick. */
void stimulus_await_phase(uint32_t seq) {
    if (phases == 0u) {
        return;
    }
    const uint32_t phase = swept_phase(seq);
    uint32_t before;
    uint32_t now = ticks_after(phase);
    do {
        before = now;
        now = ticks_after(phase);
    } while (now >= before);
}

void stimulus_stop(void) {
    compare_output_stop(&stimulus_output);
    compare_output_stop(&control_output);
}

stimulus_counts stimulus_read_counts(void) {
    return counts;
}
