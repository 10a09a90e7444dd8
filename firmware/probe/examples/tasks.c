/**
 * A program on FreeRTOS: a task allocates, fills and sends messages, another frees them. It changes
 * a table in nested critical sections, and once in twenty sorts the whole table in one, which is
 * deliberately too long. By DWT it counts its own sections, but not the kernel's.
 */
#include <stdint.h>

#include "FreeRTOS.h"
#include "board/clock.h"
#include "board/compare_output.h"
#include "board/cycle_counter.h"
#include "board/nvic.h"
#include "queue.h"
#include "said.h"
#include "tailscope_freertos.h"
#include "task.h"

enum { MESSAGES = 60, SORT_EVERY = 20, ROWS = 48, STACK_WORDS = 192, STIMULUS_TICKS = 9001 };

static uint32_t table[ROWS];
static uint32_t own_cycles[MESSAGES];
static volatile uint32_t from_isr;
static QueueHandle_t messages;

static void change_row(uint32_t row, uint32_t value) {
    taskENTER_CRITICAL();
    table[row] = value;
    taskEXIT_CRITICAL();
}

static void sort_table(void) {
    for (uint32_t last = ROWS - 1u; last > 0u; last--) {
        for (uint32_t row = 0; row < last; row++) {
            if (table[row] > table[row + 1u]) {
                const uint32_t other = table[row];
                table[row] = table[row + 1u];
                table[row + 1u] = other;
            }
        }
    }
}

/** Three sections within one: one pulse. */
static uint32_t update(uint32_t number) {
    taskENTER_CRITICAL();
    const uint32_t begin = cycle_counter_read();
    change_row(number % ROWS, number * 2654435761u);
    change_row((number + 7u) % ROWS, number);
    if (number % SORT_EVERY == SORT_EVERY - 1u) {
        sort_table();
    }
    const uint32_t end = cycle_counter_read();
    taskEXIT_CRITICAL();
    return end - begin;
}

static void reader(void *unused) {
    (void)unused;
    for (;;) {
        void *message;
        (void)xQueueReceive(messages, &message, portMAX_DELAY);
        vPortFree(message);
    }
}

static void writer(void *unused) {
    (void)unused;
    tailscope_program_begin(clock_core_hz());
    compare_output_run(&stimulus_output);
    for (uint32_t number = 0; number < MESSAGES; number++) {
        void *message = pvPortMalloc(16u + number * 5u % 200u);
        own_cycles[number] = update(number);
        (void)xQueueSend(messages, &message, portMAX_DELAY);
    }
    compare_output_stop(&stimulus_output);
    tailscope_program_end();
    for (uint32_t number = 0; number < MESSAGES; number++) {
        said("CRIT", own_cycles[number]);
    }
    said("over", from_isr);
    vTaskSuspend(NULL);
}

/* As urgent as a section may hold off. */
void TIM2_IRQHandler(void) {
    TAILSCOPE_BEGIN(ISR);
    compare_output_clear(&stimulus_output);
    const UBaseType_t previous = taskENTER_CRITICAL_FROM_ISR();
    from_isr = from_isr + 1u;
    taskEXIT_CRITICAL_FROM_ISR(previous);
    TAILSCOPE_END(ISR);
}

int main(void) {
    (void)clock_start(CLOCK_BYPASS);
    timers_start();
    tailscope_pins_start();
    said_start();
    cycle_counter_start();
    compare_output_prepare(&stimulus_output, STIMULUS_TICKS);
    compare_output_enable_interrupt(&stimulus_output);
    interrupt_enable(IRQ_TIM2, PRIORITY_MASKED_FROM);
    messages = xQueueCreate(4, sizeof(void *));
    (void)xTaskCreate(reader, "reader", STACK_WORDS, NULL, 1, NULL);
    (void)xTaskCreate(writer, "writer", STACK_WORDS, NULL, 2, NULL);
    vTaskStartScheduler();
    said("no memory", 0);
    for (;;) {}
}
