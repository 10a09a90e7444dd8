/**
 * General-purpose I/O as the STM32F4, L4 and F0 have it: two or four bits a pin for each property.
 * "RM" is ST's RM0368. Usable in assembly.
 */
#ifndef TAILSCOPE_BOARD_REGISTERS_GPIO_H
#define TAILSCOPE_BOARD_REGISTERS_GPIO_H

#include "board/registers/register.h"

#define GPIO_BSRR_OFFSET 0x18 /* RM 8.4.7: bits 0-15 set, bits 16-31 reset */

#ifndef __ASSEMBLER__

#define GPIO_MODER(port) REGISTER((port) + 0x00)   /* 8.4.1 */
#define GPIO_OSPEEDR(port) REGISTER((port) + 0x08) /* 8.4.3 */
#define GPIO_PUPDR(port) REGISTER((port) + 0x0C)   /* 8.4.4 */
#define GPIO_ODR(port) REGISTER((port) + 0x14)     /* 8.4.6 */
#define GPIO_BSRR(port) REGISTER((port) + GPIO_BSRR_OFFSET)
#define GPIO_AFR(port, half) REGISTER((port) + 0x20 + 4 * (half)) /* 8.4.9, 8.4.10 */

static inline void pin_write_field(volatile uint32_t *target, uint32_t pin, uint32_t value) {
    *target = (*target & ~(3u << 2u * pin)) | value << 2u * pin;
}

/** Makes a pin an input that only its own resistor holds high. */
#define PIN_PULL_UP(port, pin) \
    do { \
        pin_write_field(&GPIO_PUPDR(port), (pin), 1); \
        pin_write_field(&GPIO_MODER(port), (pin), 0); \
    } while (0)

#endif
#endif
