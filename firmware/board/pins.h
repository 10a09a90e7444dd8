/**
 * The eight pins of the analyzer (docs/reference/pins.md) and the serial line. Usable in assembly.
 */
#ifndef TAILSCOPE_BOARD_PINS_H
#define TAILSCOPE_BOARD_PINS_H

#include "board/stm32f401.h"

#define CRIT_PORT GPIOA
#define CRIT_PIN 8
#define OP_PORT GPIOA
#define OP_PIN 9
#define STIM_PORT GPIOA
#define STIM_PIN 0
#define ISR_PORT GPIOA
#define ISR_PIN 10
#define TASK_PORT GPIOB
#define TASK_PIN 10
#define CTRL_PORT GPIOA
#define CTRL_PIN 1
#define CISR_PORT GPIOB
#define CISR_PIN 5
#define SYNC_PORT GPIOB
#define SYNC_PIN 4
#define UART_TX_PORT GPIOA
#define UART_TX_PIN 2

#ifndef __ASSEMBLER__

#include <stdbool.h>

/** All eight pins become outputs and low, and the serial line is held high. */
void pins_start(void);

/** Gives `pin` to the peripheral behind `alternate` (datasheet DS10086, table 9). */
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
#endif
