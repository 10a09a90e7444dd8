/**
 * The eight pins of the analyzer (docs/reference/pins.md) and the serial line, as the board's table
 * has them. Usable in assembly.
 */
#pragma once

#include "board_table.h" /* names and numbers of the pins */
#include "registers.h"

#ifndef __ASSEMBLER__

#include <stdbool.h>

/** `apply` to port and pin of each channel, by its number, with `between` between them. */
#define EACH_CHANNEL(apply, between) \
    apply(CRIT_PORT, CRIT_PIN) between apply(OP_PORT, OP_PIN) \
    between apply(STIM_PORT, STIM_PIN) \
    between apply(ISR_PORT, ISR_PIN) \
    between apply(TASK_PORT, TASK_PIN) \
    between apply(CTRL_PORT, CTRL_PIN) \
    between apply(CISR_PORT, CISR_PIN) \
    between apply(SYNC_PORT, SYNC_PIN)

/** All eight pins become outputs and low, and the serial line is held high. */
void pins_start(void);

/** Gives `pin` to the peripheral behind `alternate` (the datasheet's table of them). */
void pin_to_peripheral(uint32_t port, uint32_t pin, uint32_t alternate);

/** Takes `pin` back: an output at the level last written to it. */
void pin_to_output(uint32_t port, uint32_t pin);

/** Writes a level with one store, so it needs no lock. */
static inline void pin_write(uint32_t port, uint32_t pin, bool high) {
    GPIO_BSRR(port) = 1u << (high ? pin : pin + 16u);
}

/** The level last written. */
static inline bool pin_is_high(uint32_t port, uint32_t pin) {
    return (GPIO_ODR(port) >> pin & 1u) != 0u;
}

#endif
