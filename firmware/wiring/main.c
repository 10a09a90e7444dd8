/*
 * Moves one pin at a time, for ever, so that `./lab wiring check` can tell which input of the
 * analyzer sees which pin (docs/reference/wiring-check.md).
 *
 * It needs no allocator, no kernel and no clock but the one on which the core starts. It has no
 * data, so its reset handler is all of it.
 */
#include <stddef.h>

#include "board/cycle_counter.h"
#include "board/pins.h"

enum {
    CYCLES_PER_US = CORE_HZ_AT_RESET / 1000000,
    HALF_PULSE_US = 100,
    GAP_US = 1000,
    ROUND_GAP_US = 3000
};

extern uint32_t stack_top[];

void Reset_Handler(void) __attribute__((noreturn));

typedef union {
    uint32_t *stack;
    void (*handler)(void);
} vector;

__attribute__((section(".vectors"), used)) static const vector vector_table[] = {
    {.stack = stack_top},
    {.handler = Reset_Handler},
};

typedef struct {
    uint32_t port, pin;
} place;

/* By the number of the channel. */
#define PLACE(port, pin) {port, pin},
static const place places[] = {EACH_CHANNEL(PLACE, )};

static void wait_us(uint32_t duration_us) {
    cycle_counter_wait(duration_us * CYCLES_PER_US);
}

/* Held high by its resistor alone: where two clips touch, no output works against another. */
static void release(const place *released) {
    PIN_PULL_UP(released->port, released->pin);
}

/* It begins and ends low, so that each pulse has both edges whatever holds the pin meanwhile. */
static void pulse(const place *pulsed, uint32_t pulses) {
    pin_write(pulsed->port, pulsed->pin, false);
    pin_to_output(pulsed->port, pulsed->pin);
    wait_us(HALF_PULSE_US);
    for (uint32_t count = 0; count < pulses; count++) {
        pin_write(pulsed->port, pulsed->pin, true);
        wait_us(HALF_PULSE_US);
        pin_write(pulsed->port, pulsed->pin, false);
        wait_us(HALF_PULSE_US);
    }
    release(pulsed);
}

void Reset_Handler(void) {
    const size_t pins = sizeof places / sizeof places[0];
    enable_ports(RCC_ENABLE_GPIOA | RCC_ENABLE_GPIOB);
    cycle_counter_start();
    for (uint32_t index = 0; index < pins; index++) {
        release(&places[index]);
    }
    for (;;) {
        wait_us(ROUND_GAP_US);
        for (uint32_t index = 0; index < pins; index++) {
            pulse(&places[index], index + 1u);
            wait_us(GAP_US);
        }
    }
}
