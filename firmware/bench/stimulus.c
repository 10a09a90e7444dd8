#include "bench/stimulus.h"

#include "FreeRTOS.h"
#include "bench/edge_walk.h"
#include "bench/other_operations.h"
#include "board/compare_output.h"
#include "board/cycle_counter.h"
#include "board/markers.h"
#include "board/nvic.h"
#include "board/pins.h"
#include "task.h"

enum { STACK_WORDS = 128 };

/* So long after an edge its answers are over, and so long before the next one the timer is stopped:
 * the shortest control period is 1,000 ticks. */
enum { STOP_PHASE_TICKS = 250 };

/* A seed has 16 bits, so no seed makes the generator's state 0, where it would stay. */
enum { RANDOM_ORIGIN = 0x5DEECE66 };

static TaskHandle_t woken_task;
static StaticTask_t woken_task_control;
static StackType_t woken_task_stack[STACK_WORDS];

/* So many interrupts may come before the woken task runs. What follows is counted, but not timed.
 * Half of them make room for what the kernel's calls need. */
#ifdef TAILSCOPE_KERNEL_CALLS
enum { NOTES = 32 };
#else
enum { NOTES = 64 };
#endif

/* An interval is drawn only while the edge that begins it is further away than what may come
 * between the look at the counter and the store: a control interrupt. */
enum { DRAW_TICKS = 400 };

/* What the interrupt leaves to the task that it wakes, which has more time. */
typedef struct {
    edge_reading at;
    bool met; /* an operation */
} interrupt_note;

static struct {
    volatile uint32_t noted; /* by the interrupt; all its answers */
    uint32_t settled;        /* by the task */
    interrupt_note notes[NOTES];
} interrupts;

typedef struct {
    uint32_t number; /* of all answers */
    latency_sum met; /* of those that met the operation that runs */
    latency_range between;
} answer_account;

static answer_account accounts[ANSWERS] = {
    {.between = {UINT32_MAX, 0}}, {.between = {UINT32_MAX, 0}}, {.between = {UINT32_MAX, 0}}};
static uint32_t preempted_operations;
static edge_walk stimulus_walk; /* the task's; the interrupt reads the course */
#ifdef CONTROL_TIMER
/* The control's edges come at one period, and its handler is short: it does without a walk. */
static struct {
    edge_course course;
    uint32_t period;
    int32_t long_cycles;     /* one period and a half */
    uint32_t covered_cycles; /* the free-running count at the last edge that was answered, nearly */
} control;
#endif
static uint32_t swept_edges; /* asked for so far */
static stimulus_mode mode;
static uint32_t period; /* of the stimulus, in ticks; 0 without one */
#ifdef CONTROL_TIMER
static bool control_runs;
#endif
static uint32_t random_state;

static bool an_operation_runs(void) {
    return pin_is_high(OP_PORT, OP_PIN);
}

static inline void account_for(answer by, uint32_t ticks, bool met) {
    answer_account *const account = &accounts[by];
    account->number++;
    if (met) {
        account->met.number++;
        account->met.ticks += ticks;
        return;
    }
    if (ticks < account->between.least_ticks) {
        account->between.least_ticks = ticks;
    }
    if (ticks > account->between.most_ticks) {
        account->between.most_ticks = ticks;
    }
}

/* interrupt_entry.S raises the pin, reads the timer's counter and branches here, and to
 * control_interrupt(). An edge that came behind the pin's rise was cleared with those before it. It
 * still waits, so the interrupt is raised for it again. */
void stimulus_interrupt(uint32_t count) {
    const uint32_t now = compare_output_clear(&stimulus_output);
    if (edge_came_since(&stimulus_walk.course, count, now)) {
        interrupt_pend(STIMULUS_IRQ);
    }
    const uint32_t number = interrupts.noted;
    if (number - interrupts.settled < NOTES) {
        interrupts.notes[number % NOTES] =
            (interrupt_note){{count, cycle_counter_read()}, an_operation_runs()};
    }
    interrupts.noted = number + 1u;
    BaseType_t switch_required = pdFALSE;
    vTaskNotifyGiveFromISR(woken_task, &switch_required);
    portYIELD_FROM_ISR(switch_required);
    pin_write(ISR_PORT, ISR_PIN, false);
}

#ifdef CONTROL_TIMER
/* Above configMAX_SYSCALL_INTERRUPT_PRIORITY: the kernel may not be called here. */
void control_interrupt(uint32_t count) {
    const uint32_t now = compare_output_clear(&control_output);
    const bool met = an_operation_runs();
    const uint32_t since = since_edge(&control.course, count);
    const uint32_t edge_cycles = cycle_counter_read() - since;
    /* Less than 0 if a debugger stopped the free-running count meanwhile: then nothing merged. */
    const int32_t passed = (int32_t)(edge_cycles - control.covered_cycles);
    control.covered_cycles = edge_cycles;
    if (since_edge(&control.course, now) < now - count + TOO_RECENT_TICKS) {
        interrupt_pend(CONTROL_IRQ);
        control.covered_cycles -= since < TOO_RECENT_TICKS ? control.period : 0u;
    }
    const uint32_t merged = passed < control.long_cycles
                                ? 0u
                                : ((uint32_t)passed - control.period / 2u) / control.period;
    account_for(ANSWER_CONTROL, since + merged * control.period, met);
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

/* The stimulus' timer and the free-running count, now. */
static edge_reading read_now(void) {
    const uint32_t count = TIM_CNT(stimulus_output.timer);
    return (edge_reading){count, cycle_counter_read()};
}

/* The interval that follows the next edge, once each time that the task has answered all edges. If
 * the next edge is near, the interval repeats. */
static void draw_next(void) {
    const uint32_t since = edge_walk_position(&stimulus_walk, read_now()) - stimulus_walk.position;
    if (since + DRAW_TICKS < stimulus_walk.interval) {
        stimulus_walk.next = draw_interval();
        compare_output_set_next(&stimulus_output, stimulus_walk.next);
    }
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

/* Accounts for the next `taken` interrupts, by which the task was notified. Returns the position
 * where the first of their waits began. */
static uint32_t settle(uint32_t taken) {
    uint32_t first_began = 0;
    for (uint32_t done = 0; done < taken && done < NOTES; done++) {
        const interrupt_note *const note = &interrupts.notes[(interrupts.settled + done) % NOTES];
        uint32_t began;
        const uint32_t waited = edge_walk_answer(&stimulus_walk, note->at, &began);
        account_for(ANSWER_ISR, waited, note->met);
        if (note->met) {
            preempted_operations++;
        }
        if (done == 0u) {
            first_began = began;
        }
    }
    interrupts.settled += taken;
    return first_began;
}

/* The task waited since the first interrupt that it serves did. An edge may have come since the
 * last of them: its own interrupt will be taken the next time. */
static void account_for_task(uint32_t taken, edge_reading at, bool met) {
    const uint32_t began = settle(taken);
    account_for(ANSWER_TASK, edge_walk_position(&stimulus_walk, at) - began, met);
}

static void answer_stimulus(void *unused) {
    (void)unused;
    for (;;) {
        const uint32_t taken = ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
        const uint32_t before = urgent_task_enter();
        const uint32_t count = raise_and_read(TASK_PORT, TASK_PIN, stimulus_output.timer);
        const edge_reading at = {count, cycle_counter_read()};
        const bool met = an_operation_runs();
        end_swept_stimulus();
        urgent_task_leave(before);
        account_for_task(taken, at, met);
        pin_write(TASK_PORT, TASK_PIN, false);
        if (mode == STIMULUS_RANDOM) {
            draw_next();
        }
    }
}

void stimulus_create_task(void) {
    woken_task = xTaskCreateStatic(answer_stimulus, "woken", STACK_WORDS, NULL, TASK_PRIORITY_WOKEN,
                                   woken_task_stack, &woken_task_control);
}

/* As if the edge before the first had come a period sooner. */
static edge_walk periodic_walk(uint32_t ticks) {
    return (edge_walk){.course = {ticks - 1u, 1, 0},
                       .interval = ticks,
                       .next = ticks,
                       .at_cycles = cycle_counter_read(),
                       .uncovered = ticks};
}

/* The second edge of a pair is the period's end; the first came so much sooner. */
static edge_walk burst_walk(uint32_t spacing) {
    edge_walk walk = periodic_walk(period);
    walk.course = (edge_course){period - spacing, spacing, spacing};
    walk.at_cycles -= spacing;
    return walk;
}

/* The first edge comes at once. The counter is 0 for one tick before an edge, and never long. */
static edge_walk random_walk(uint32_t first_interval) {
    edge_walk walk = periodic_walk(first_interval);
    walk.course = (edge_course){1, 0, 0};
    walk.uncovered = 0;
    return walk;
}

static void start_stimulus(const image_header *header) {
    const uint32_t spacing = header->stimulus_parameter;
    if (mode == STIMULUS_SWEEP) {
        compare_output_prepare_once(&stimulus_output);
        compare_output_enable_interrupt(&stimulus_output);
        return;
    }
    if (mode == STIMULUS_RANDOM) {
        random_state = RANDOM_ORIGIN ^ header->stimulus_parameter;
        const uint32_t interval = draw_interval();
        compare_output_prepare_intervals(&stimulus_output, interval);
        stimulus_walk = random_walk(interval);
    } else if (mode == STIMULUS_BURST) {
        compare_output_prepare_pairs(&stimulus_output, period, spacing);
        stimulus_walk = burst_walk(spacing);
    } else {
        compare_output_prepare(&stimulus_output, period);
        stimulus_walk = periodic_walk(period);
    }
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
        control.course = periodic_walk(period_ticks).course;
        control.period = period_ticks;
        control.long_cycles = (int32_t)(period_ticks + period_ticks / 2u);
        control.covered_cycles = cycle_counter_read();
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
    while (interrupts.noted != swept_edges) {}
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
        stimulus_walk.course = (edge_course){offset_ticks, swept_return(offset_ticks), 0};
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
        .interrupts = interrupts.noted,
        .wakes = accounts[ANSWER_TASK].number,
        .controls = accounts[ANSWER_CONTROL].number,
        .preempted_operations = preempted_operations,
    };
}
