/** Interrupts by number (the board's table), with a priority of priorities.h. */
#pragma once

#include <stdint.h>

#include "architecture.h"

static inline void interrupt_enable(uint32_t irq, uint8_t priority) {
    interrupt_set_priority(irq, priority);
    NVIC_ISER(irq / 32u) = 1u << irq % 32u;
}

/** Raises the interrupt once more, as its peripheral would. */
static inline void interrupt_pend(uint32_t irq) {
    NVIC_ISPR(irq / 32u) = 1u << irq % 32u;
}

/** Masks everything but NMI and HardFault; returns the previous PRIMASK. */
static inline uint32_t interrupts_mask(void) {
    uint32_t previous;
    __asm volatile("mrs %0, primask\n\tcpsid i" : "=r"(previous)::"memory");
    return previous;
}

static inline void interrupts_restore(uint32_t previous) {
    __asm volatile("msr primask, %0" ::"r"(previous) : "memory");
}
