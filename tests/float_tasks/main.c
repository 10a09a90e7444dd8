/* Hard-float tasks under FreeRTOS while timers interrupt them as often as the words at 0x08040000
 * say (cycles between interrupts, 0 = none): first TIM5, above the kernel and without floating
 * point, then TIM2, which uses it. */
#include <FreeRTOS.h>
#include <task.h>

#include "board/clock.h"
#include "board/links.h"
#include "board/nvic.h"
#include "board/priorities.h"
#include "work.h"

#define PERIODS ((const volatile uint32_t *)0x08040000)
#define FPCCR REGISTER(0xE000EF34)
#define FPCCR_LSPACT 1u
#define TIM_DIER_UPDATE 1u

enum { STACK_WORDS = 256, PRIORITY = 1 };

static StaticTask_t blocks[WORKS];
static StackType_t stacks[WORKS][STACK_WORDS];
static uint32_t digests[WORKS];
static volatile unsigned finished;
static volatile uint32_t integer_interrupts, float_interrupts, reserved, saved_late;
static volatile float total = 1.0f;

void TIM5_IRQHandler(void) {
    TIM_SR(TIM5) = 0;
    integer_interrupts++;
}

/* Overwrites floating-point registers that the tasks need, after a look at whether their state was
 * only reserved. */
void TIM2_IRQHandler(void) {
    TIM_SR(TIM2) = 0;
    float_interrupts++;
    uint32_t before = FPCCR & FPCCR_LSPACT;
    reserved += before;
    total = total * 0.5f + (float)float_interrupts / 3.0f;
    __asm volatile("vmov.f32 s7, #2.0\n\tvmov.f32 s15, #-1.0\n\tvcmp.f32 s7, s15" ::: "s7", "s15");
    saved_late += before & ~FPCCR;
}

static void print(const char *text) {
    while (*text != '\0') {
        uart_send(*text++);
    }
}

static void print_number(const char *name, uint32_t value) {
    print(name);
    for (int shift = 28; shift >= 0; shift -= 4) {
        uart_send("0123456789abcdef"[value >> shift & 15u]);
    }
    print("\n");
}

static void start_timer(uint32_t timer, uint32_t irq, uint8_t priority, uint32_t period) {
    if (period != 0u) {
        TIM_ARR(timer) = period - 1u;
        TIM_DIER(timer) = TIM_DIER_UPDATE;
        interrupt_enable(irq, priority);
        TIM_CR1(timer) = TIM_CR1_CEN;
    }
}

static void report(void) {
    TIM_CR1(TIM2) = 0;
    TIM_CR1(TIM5) = 0;
    for (unsigned index = 0; index < WORKS; index++) {
        print("work ");
        uart_send((char)('0' + index));
        print_number(" ", digests[index]);
    }
    print_number("integer interrupts ", integer_interrupts);
    print_number("float interrupts ", float_interrupts);
    print_number("reserved ", reserved);
    print_number("saved late ", saved_late);
    print("end\n");
}

static void yield(void) {
    taskYIELD();
}

static void run(void *parameter) {
    unsigned index = (unsigned)(uintptr_t)parameter;
    if (index == 0u) {
        start_timer(TIM5, IRQ_TIM5, PRIORITY_CONTROL, PERIODS[0]);
        start_timer(TIM2, IRQ_TIM2, PRIORITY_STIMULUS, PERIODS[1]);
    }
    digests[index] = work(index, yield);
    taskENTER_CRITICAL();
    unsigned count = ++finished;
    taskEXIT_CRITICAL();
    if (count == WORKS) {
        report();
    }
    vTaskSuspend(NULL);
}

void fault(const uint32_t *frame) __attribute__((noreturn));
void fault(const uint32_t *frame) {
    print_number("fault at ", frame[6]);
    for (;;) {}
}

void kernel_assertion_failed(void) {
    print("assertion\n");
    for (;;) {}
}

void vApplicationStackOverflowHook(TaskHandle_t task, char *name) {
    (void)task;
    (void)name;
    kernel_assertion_failed();
}

int main(void) {
    if (!clock_start(CLOCK_BYPASS)) {
        kernel_assertion_failed();
    }
    enable_ports(RCC_ENABLE_GPIOA);
    enable_timers(RCC_ENABLE_TIM2 | RCC_ENABLE_TIM5);
    uart_start(1000000);
    for (unsigned index = 0; index < WORKS; index++) {
        (void)xTaskCreateStatic(run, "work", STACK_WORDS, (void *)(uintptr_t)index, PRIORITY,
                                stacks[index], &blocks[index]);
    }
    vTaskStartScheduler();
    kernel_assertion_failed();
}
