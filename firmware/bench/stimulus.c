#include "bench/stimulus.h"

#include "FreeRTOS.h"
#include "bench/task_priorities.h"
#include "bench/urgent_task.h"
#include "board/compare_output.h"
#include "board/cycle_counter.h"
#include "board/nvic.h"
#include "board/pins.h"
#include "board/raise_and_read.h"
#include "board_table.h"
#include "task.h"

enum { STACK_WORDS = 128 };

/* Half a microsecond of work per wake: an analyzer at 24 MS/s samples the pulse on TASK twelve
 * times. */
enum { WORK_CYCLES = BOARD_CORE_HZ / 2000000u };

/* So long after an edge its answers are over, and so long before the next one the timer is stopped:
 * the shortest control period is 500 ticks. */
enum { STOP_PHASE_TICKS = 250 };

/* A seed has 16 bits, so no seed makes the generator's state 0, where it would stay. */
enum { RANDOM_ORIGIN = 0x5DEECE66 };

static TaskHandle_t woken_task;
static StaticTask_t woken_task_control;
static StackType_t woken_task_stack[STACK_WORDS];
static volatile uint32_t preempted_operations; /* counted in the interrupt, read by the task */

/* What a handler needs lies together: one address to load. */
typedef struct {
    edge_course course; /* of the timer that gives the stimulus */
    uint32_t number;    /* of all answers */
    latency_sum met;    /* of those that met the operation that runs */
    latency_range between;
} answer_account;

static volatile answer_account accounts[ANSWERS] = {
    {.between = {UINT32_MAX, 0}}, {.between = {UINT32_MAX, 0}}, {.between = {UINT32_MAX, 0}}};
static uint32_t swept_edges; /* asked for so far */
static stimulus_mode mode;
static uint32_t period; /* of the stimulus, in ticks; 0 without one */
#ifdef CONTROL_TIMER
static bool control_runs;
#endif
static uint32_t random_state;

/* interrupt_entry.S raises the pin, reads the timer's counter and branches here. */
void stimulus_interrupt(uint32_t count);
#ifdef CONTROL_TIMER
void control_interrupt(uint32_t count);
#endif

/* Returns true if the answer met an operation. */
static inline bool note(answer by, uint32_t count) {
    volatile answer_account *const account = &accounts[by];
    const uint32_t ticks = since_edge(&account->course, count);
    account->number++;
    if (pin_is_high(OP_PORT, OP_PIN)) {
        account->met.number++;
        account->met.ticks += ticks;
        return true;
    }
    if (ticks < account->between.least_ticks) {
        account->between.least_ticks = ticks;
    }
    if (ticks > account->between.most_ticks) {
        account->between.most_ticks = ticks;
    }
    return false;
}

void stimulus_interrupt(uint32_t count) {
    compare_output_clear(&stimulus_output);
    if (note(ANSWER_ISR, count)) {
        preempted_operations++;
    }
    BaseType_t switch_required = pdFALSE;
    vTaskNotifyGiveFromISR(woken_task, &switch_required);
    portYIELD_FROM_ISR(switch_required);
    pin_write(ISR_PORT, ISR_PIN, false);
}

#ifdef CONTROL_TIMER
/* Above configMAX_SYSCALL_INTERRUPT_PRIORITY: the kernel may not be called here. */
void control_interrupt(uint32_t count) {
    compare_output_clear(&control_output);
    (void)note(ANSWER_CONTROL, count);
    pin_write(CISR_PORT, CISR_PIN, false);
}
#endif

/* xorshift32 (Marsaglia, Xorshift RNGs, 2003: shifts 13, 17, 5), scaled to an interval from half a
 * period to less than one and a half. */
static uint32_t draw_interval(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return period / 2u + (uint32_t)((uint64_t)random_state * period >> 32);
}

/* Nobody reads the counter of a swept stimulus after the task has. One of 16 bits would soon come
 * round and match again. */
static void end_swept_stimulus(void) {
#if STIMULUS_TIMER_BITS < 32
    if (mode == STIMULUS_SWEEP) {
        compare_output_stop(&stimulus_output);
    }
#endif
}

static void answer_stimulus(void *unused) {
    (void)unused;
    for (;;) {
        (void)ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
        const uint32_t before = urgent_task_enter();
        const uint32_t count = raise_and_read(TASK_PORT, TASK_PIN, stimulus_output.timer);
        (void)note(ANSWER_TASK, count);
        end_swept_stimulus();
        urgent_task_leave(before);
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

static void set_stimulus_course(edge_course course) {
    accounts[ANSWER_ISR].course = course;
    accounts[ANSWER_TASK].course = course;
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
    set_stimulus_course(compare_output_course(&stimulus_output));
    compare_output_enable_interrupt(&stimulus_output);
    compare_output_run(&stimulus_output);
}

/* A counter that stops between an edge and its answer would tell a latency that was none. */
static void stop_between_edges(const compare_output *output) {
    compare_output_await_phase(output, STOP_PHASE_TICKS);
    compare_output_stop(output);
}

/* A board without a control refuses an image that asks for one. */
#ifdef CONTROL_TIMER
static void start_control(uint32_t period_ticks) {
    control_runs = period_ticks != 0u;
    if (control_runs) {
        compare_output_prepare(&control_output, period_ticks);
        accounts[ANSWER_CONTROL].course = compare_output_course(&control_output);
        compare_output_enable_interrupt(&control_output);
        compare_output_run(&control_output);
    }
}

static void stop_control(void) {
    if (control_runs) {
        stop_between_edges(&control_output);
    }
}
#endif

void stimulus_start(const image_header *header) {
    mode = (stimulus_mode)header->stimulus_mode;
    period = header->stimulus_period_ticks;
    interrupt_enable(STIMULUS_IRQ, PRIORITY_STIMULUS);
#ifdef CONTROL_TIMER
    interrupt_enable(CONTROL_IRQ, PRIORITY_CONTROL);
#endif
    if (period != 0u || mode == STIMULUS_SWEEP) {
        start_stimulus(header);
    }
#ifdef CONTROL_TIMER
    start_control(header->control_period_ticks);
#endif
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

/* The edge has come, and the more urgent handler and task have read the counter. */
static void await_swept_answer(void) {
    while (accounts[ANSWER_ISR].number != swept_edges) {}
    compare_output_stop(&stimulus_output);
}

/* From a swept edge to the counter's return to 0. One of 32 bits does not return before its answer.
 */
static uint32_t swept_return(uint32_t offset_ticks) {
#if STIMULUS_TIMER_BITS < 32
    return STIMULUS_TIMER_LAST + 1u - offset_ticks;
#else
    (void)offset_ticks;
    return 0;
#endif
}

/* Usually the last edge came long before its operation's record was sent, and there is no wait. */
static void arm(uint32_t offset_ticks) {
    await_swept_answer();
    if (offset_ticks != 0u) {
        swept_edges++;
        set_stimulus_course((edge_course){offset_ticks, swept_return(offset_ticks)});
        compare_output_once(&stimulus_output, offset_ticks);
    }
}

static void forget_sums(void) {
    for (answer by = 0; by < ANSWERS; by++) {
        accounts[by].met = (latency_sum){0, 0};
    }
}

void stimulus_prepare(uint32_t seq, uint32_t offset_ticks) {
    forget_sums();
    if (mode == STIMULUS_SWEEP) {
        arm(offset_ticks);
    } else if (mode != STIMULUS_RANDOM && period != 0u) {
        compare_output_await_phase(&stimulus_output, swept_phase(seq));
    }
}

/* The control goes last. Nothing but the tick can then make its wait longer than its period. */
void stimulus_stop(void) {
    if (mode == STIMULUS_SWEEP) {
        await_swept_answer();
    } else if (mode != STIMULUS_NONE && period != 0u) {
        stop_between_edges(&stimulus_output);
    }
#ifdef CONTROL_TIMER
    stop_control();
#endif
}

latency_sum stimulus_read_sum(answer by) {
    return accounts[by].met;
}

latency_range stimulus_read_latencies(answer by) {
    return accounts[by].between;
}

stimulus_counts stimulus_read_counts(void) {
    return (stimulus_counts){
        .interrupts = accounts[ANSWER_ISR].number,
        .wakes = accounts[ANSWER_TASK].number,
        .controls = accounts[ANSWER_CONTROL].number,
        .preempted_operations = preempted_operations,
    };
}
