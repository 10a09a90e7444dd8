/**
 * A program of tasks and queues that allocate from FreeRTOS's own heap_4, traced over the serial
 * line. Around every call of its own it says what it does, in lines of its own: these are what the
 * test compares the trace with.
 */
#include "FreeRTOS.h"
#include "board/clock.h"
#include "board/links.h"
#include "board/pins.h"
#include "queue.h"
#include "task.h"

enum { MESSAGES = 60, WORKERS = 2, STACK_WORDS = 160 };

typedef struct {
    QueueHandle_t work, done;
} line_of_work;

static void put(const char *text) {
    while (*text != '\0') {
        uart_send(*text++);
    }
}

static void put_hex(uint32_t value) {
    for (int shift = 28; shift >= 0; shift -= 4) {
        uart_send("0123456789abcdef"[value >> shift & 15u]);
    }
}

/** A line of the program's own. With the scheduler suspended, lest two tasks' lines mix. */
static void say(const char *what, const void *block, size_t size) {
    vTaskSuspendAll();
    put(what);
    put(" ");
    put_hex((uint32_t)(uintptr_t)block);
    put(" ");
    put_hex((uint32_t)size);
    put("\n");
    (void)xTaskResumeAll();
}

void tailscope_trace_write(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        uart_send(text[i]);
    }
}

/* The program */

static void *take(size_t size) {
    void *const block = pvPortMalloc(size);
    say(block == NULL ? "refused" : "took", block, size);
    return block;
}

static void give_back(void *block) {
    say("gives", block, 0);
    vPortFree(block);
}

/** Frees what another task allocated, and allocates what another will free. */
static void worker(void *given) {
    line_of_work *const line = given;
    for (;;) {
        void *message;
        (void)xQueueReceive(line->work, &message, portMAX_DELAY);
        give_back(message);
        void *answer = take(24);
        (void)xQueueSend(line->done, &answer, portMAX_DELAY);
    }
}

static void master(void *unused) {
    (void)unused;
    line_of_work *const line = take(sizeof *line);
    *line = (line_of_work){xQueueCreate(4, sizeof(void *)), xQueueCreate(4, sizeof(void *))};
    TaskHandle_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        (void)xTaskCreate(worker, "worker", STACK_WORDS, line, 1, &workers[i]);
    }
    for (uint32_t i = 0; i < MESSAGES; i++) {
        void *message = take(8u + i * 7u % 200u);
        (void)xQueueSend(line->work, &message, portMAX_DELAY);
        void *answer;
        (void)xQueueReceive(line->done, &answer, portMAX_DELAY);
        give_back(answer);
    }
    (void)take(100000); /* more than there is */
    for (int i = 0; i < WORKERS; i++) {
        vTaskDelete(workers[i]);
    }
    vTaskDelay(2); /* the idle task frees them */
    vQueueDelete(line->work);
    vQueueDelete(line->done);
    give_back(line);
    say("over", NULL, 0);
    vTaskSuspend(NULL);
}

int main(void) {
    pins_start();
    (void)clock_start(CLOCK_BYPASS);
    uart_start(1000000);
    put("traced program\n");
    (void)xTaskCreate(master, "master", STACK_WORDS, NULL, 2, NULL);
    vTaskStartScheduler();
    put("no memory\n");
    for (;;) {}
}

/* What startup.c has in its table, and nothing here uses. */

static void stop(void) {
    put("faulted\n");
    for (;;) {}
}

void fault(const uint32_t *frame) __attribute__((noreturn));
void fault(const uint32_t *frame) {
    (void)frame;
    stop();
    for (;;) {}
}

void TIM2_IRQHandler(void);
void TIM2_IRQHandler(void) {
    stop();
}

void TIM5_IRQHandler(void);
void TIM5_IRQHandler(void) {
    stop();
}
