#include "bench/other_operations.h"

#include <stddef.h>

#include "FreeRTOS.h"
#include "bench/records.h"
#include "heap/port.h"
#include "queue.h"
#include "task.h"
#include "timers.h"

enum { STACK_WORDS = 64, QUEUE_LENGTH = 1, FAR_TICKS = 1000000 };

static QueueHandle_t queue;
static StaticQueue_t queue_control;
static uint8_t queue_items[QUEUE_LENGTH * sizeof(uint32_t)];
static TaskHandle_t task;
static StaticTask_t task_control;
static StackType_t task_stack[STACK_WORDS];
static TimerHandle_t timer;
static StaticTimer_t timer_control;

static void never_due(TimerHandle_t unused) {
    (void)unused;
}

/* At the idle task's priority: it never runs while the bench does. */
static void idle_about(void *unused) {
    (void)unused;
    for (;;) {}
}

/* Once, and outside of all marks. */
static void prepare(void) {
    if (queue == NULL) {
        queue = xQueueCreateStatic(QUEUE_LENGTH, sizeof(uint32_t), queue_items, &queue_control);
        timer = xTimerCreateStatic("far", FAR_TICKS, pdFALSE, NULL, never_due, &timer_control);
    }
}

static uint32_t marked_if(BaseType_t done) {
    const uint32_t cycles = kernel_marks_end();
    if (done != pdTRUE) {
        fail("kernel", cycles);
    }
    return cycles;
}

static uint32_t queue_send(void) {
    const uint32_t item = 0;
    kernel_marks_begin();
    return marked_if(xQueueSend(queue, &item, 0));
}

static uint32_t queue_receive(void) {
    uint32_t item;
    kernel_marks_begin();
    return marked_if(xQueueReceive(queue, &item, 0));
}

/** Defines name(), which marks the critical sections of `call` and returns their cycles. */
#define MARKED(name, call) \
    static uint32_t name(void) { \
        kernel_marks_begin(); \
        return marked_if(call); \
    }

MARKED(notify_give, xTaskNotifyGive(xTaskGetCurrentTaskHandle()))
MARKED(notify_take, ulTaskNotifyTake(pdTRUE, 0) == 1u ? pdTRUE : pdFALSE)

static uint32_t task_create(void) {
    kernel_marks_begin();
    task = xTaskCreateStatic(idle_about, "idler", STACK_WORDS, NULL, tskIDLE_PRIORITY, task_stack,
                             &task_control);
    return marked_if(task != NULL ? pdTRUE : pdFALSE);
}

static uint32_t task_delete(void) {
    kernel_marks_begin();
    vTaskDelete(task);
    return marked_if(pdTRUE);
}

/* The timer task, more urgent than the bench, carries the command out before the call returns. */
MARKED(timer_start, xTimerStart(timer, 0))
MARKED(timer_stop, xTimerStop(timer, 0))

/* The heap's lock is no critical section of the kernel. So the call itself is marked: all but a few
 * of its instructions run under the lock. */
static uint32_t heap_stats(void) {
    HeapStats_t stats;
    const uint32_t begin_cycles = heap_port_critical_begin();
    vPortGetHeapStats(&stats);
    return heap_port_critical_end() - begin_cycles;
}

static uint32_t (*const bodies[CALLS])(void) = {
    [CALL_QUEUE_SEND] = queue_send,   [CALL_QUEUE_RECEIVE] = queue_receive,
    [CALL_NOTIFY_GIVE] = notify_give, [CALL_NOTIFY_TAKE] = notify_take,
    [CALL_TASK_CREATE] = task_create, [CALL_TASK_DELETE] = task_delete,
    [CALL_TIMER_START] = timer_start, [CALL_TIMER_STOP] = timer_stop,
    [CALL_HEAP_STATS] = heap_stats,
};

uint32_t (*kernel_call(call_number number))(void) {
    prepare();
    return bodies[number];
}
