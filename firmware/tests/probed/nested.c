/**
 * Marks sections that lie within each other, and one that an interrupt begins and ends again within
 * the main program's. Around the markers it counts cycles by DWT.
 */
#include <stdint.h>

#include "board/clock.h"
#include "board/cycle_counter.h"
#include "board/nvic.h"
#include "said.h"
#include "tailscope.h"

enum { REPEATS = 8 };

static volatile uint32_t answered;

static uint32_t read_cost(void) {
    const uint32_t begin = cycle_counter_read();
    return cycle_counter_read() - begin;
}

static uint32_t plain_cost(void) {
    const uint32_t begin = cycle_counter_read();
    TAILSCOPE_BEGIN(CRIT);
    TAILSCOPE_END(CRIT);
    return cycle_counter_read() - begin;
}

static uint32_t nested_cost(void) {
    const uint32_t begin = cycle_counter_read();
    TAILSCOPE_BEGIN_NESTED(CRIT);
    TAILSCOPE_END_NESTED(CRIT);
    return cycle_counter_read() - begin;
}

/** Of the repeats the most: the first one's code comes from the flash. */
static uint32_t most(uint32_t (*cost)(void)) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < REPEATS; i++) {
        const uint32_t cycles = cost();
        found = cycles > found ? cycles : found;
        cycle_counter_wait(500);
    }
    return found;
}

/** Begins and ends what is open already. */
void TIM2_IRQHandler(void);
void TIM2_IRQHandler(void) {
    TAILSCOPE_BEGIN_NESTED(OP);
    cycle_counter_wait(300);
    TAILSCOPE_END_NESTED(OP);
    answered = answered + 1u;
}

static uint32_t interrupted(void) {
    TAILSCOPE_BEGIN_NESTED(OP);
    const uint32_t begin = cycle_counter_read();
    TAILSCOPE_BEGIN_NESTED(OP);
    cycle_counter_wait(100);
    TAILSCOPE_END_NESTED(OP);
    const uint32_t before = answered;
    REGISTER(0xE000E200) = 1u << IRQ_TIM2; /* NVIC_ISPR0: PM0214, section 4.3.4 */
    while (answered == before) {}
    cycle_counter_wait(100);
    const uint32_t end = cycle_counter_read();
    TAILSCOPE_END_NESTED(OP);
    return end - begin;
}

int main(void) {
    static uint32_t cycles[REPEATS];
    (void)clock_start(CLOCK_BYPASS);
    tailscope_pins_start();
    said_start();
    cycle_counter_start();
    interrupt_enable(IRQ_TIM2, 0);
    const uint32_t reading = most(read_cost);
    const uint32_t plain = most(plain_cost);
    const uint32_t nested = most(nested_cost);
    for (uint32_t i = 0; i < REPEATS; i++) {
        cycles[i] = interrupted();
        cycle_counter_wait(500);
    }
    for (uint32_t i = 0; i < REPEATS; i++) {
        said("OP", cycles[i]);
    }
    said("read", reading);
    said("plain", plain);
    said("nested", nested);
    for (;;) {}
}

/* Of a kernel, which startup.c has in its table. */

void vPortSVCHandler(void);
void vPortSVCHandler(void) {
    said_stop();
}

void xPortPendSVHandler(void);
void xPortPendSVHandler(void) {
    said_stop();
}

void xPortSysTickHandler(void);
void xPortSysTickHandler(void) {
    said_stop();
}
