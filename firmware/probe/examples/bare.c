/**
 * A program without an operating system: it fills buffers with interrupts masked, and a timer's
 * interrupt answers meanwhile. One buffer in fifty is written out with interrupts masked too, and
 * that is deliberately too long. By DWT it counts the same sections that it marks.
 */
#include <stdint.h>

#include "board/clock.h"
#include "board/compare_output.h"
#include "board/cycle_counter.h"
#include "board/nvic.h"
#include "said.h"
#include "tailscope.h"

enum {
    SECTIONS = 200,
    BUFFER_BYTES = 256,
    WRITE_OUT_EVERY = 50,
    WRITES = 12,
    STIMULUS_TICKS = 5003
};

static volatile uint8_t buffer[BUFFER_BYTES];
static uint32_t cycles[SECTIONS];

static void fill(uint32_t bytes, uint32_t value) {
    for (uint32_t i = 0; i < bytes; i++) {
        buffer[i] = (uint8_t)(value + i);
    }
}

static void write_out(void) {
    for (uint32_t i = 0; i < WRITES; i++) {
        fill(BUFFER_BYTES, i);
    }
}

static uint32_t update(uint32_t number) {
    const uint32_t previous = interrupts_mask();
    TAILSCOPE_BEGIN(CRIT);
    const uint32_t begin = cycle_counter_read();
    fill(1u + number * 7u % BUFFER_BYTES, number);
    if (number % WRITE_OUT_EVERY == WRITE_OUT_EVERY - 1u) {
        write_out();
    }
    const uint32_t end = cycle_counter_read();
    TAILSCOPE_END(CRIT);
    interrupts_restore(previous);
    return end - begin;
}

void TIM2_IRQHandler(void) {
    TAILSCOPE_BEGIN(ISR);
    compare_output_clear(&stimulus_output);
    TAILSCOPE_END(ISR);
}

int main(void) {
    (void)clock_start(CLOCK_BYPASS);
    timers_start();
    tailscope_pins_start();
    said_start();
    tailscope_program_begin(clock_core_hz());
    compare_output_prepare(&stimulus_output, STIMULUS_TICKS);
    compare_output_enable_interrupt(&stimulus_output);
    interrupt_enable(IRQ_TIM2, 0);
    compare_output_run(&stimulus_output);
    for (uint32_t number = 0; number < SECTIONS; number++) {
        cycles[number] = update(number);
        cycle_counter_wait(1000u + number);
    }
    compare_output_stop(&stimulus_output);
    cycle_counter_wait(1000);
    tailscope_program_end();
    for (uint32_t number = 0; number < SECTIONS; number++) {
        said("CRIT", cycles[number]);
    }
    said("over", 0);
    for (;;) {}
}

/* Of a kernel, which startup.c has in its table. */

void vPortSVCHandler(void) {
    said_stop();
}

void xPortPendSVHandler(void) {
    said_stop();
}

void xPortSysTickHandler(void) {
    said_stop();
}
