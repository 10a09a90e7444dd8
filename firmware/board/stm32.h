/**
 * What is done with the registers that every STM32 of the bench has alike. registers.h, which the
 * build makes of registers.toml and a family's own, includes this at its end. "RM" is ST's RM0368.
 */
#pragma once

#ifndef __ASSEMBLER__

#include <stdint.h>

/** A register by its address. */
#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

/** A field of a register's value. */
#define FIELD(value, name) (((value)&name##_Msk) >> name##_Pos)

/** Turns clocks of peripherals on. They run two cycles later, so the register is read back. */
static inline void turn_on(volatile uint32_t *enables, uint32_t bits) {
    *enables |= bits;
    (void)*enables; /* errata ES0299, section on RCC */
}

static inline void enable_timers(uint32_t bits) {
    turn_on(&RCC_APB1, bits);
}

/** Without this the bus of an ARMv7-M line stands while the core sleeps (RM 23.16.3); that of an
 * STM32F0 and G0 is clocked anyway (RM0091, 32.9.1; RM0444, 40.9). */
static inline void clock_bus_in_sleep(void) {
#if __ARM_ARCH >= 7
    DBGMCU_CR |= DBGMCU_CR_DBG_SLEEP;
#endif
}

/** Of a register of fields of `width` bits, one a pin, sets that of pin `index`. */
static inline void write_field(volatile uint32_t *target, uint32_t index, uint32_t width,
                               uint32_t value) {
    const uint32_t mask = (1u << width) - 1u;
    *target = (*target & ~(mask << index * width)) | value << index * width;
}

#ifdef GPIO_ONLY_WORDS
#include "ports.h"
#else
static inline void enable_ports(uint32_t bits) {
    turn_on(&RCC_PORTS, bits);
}

/** Makes a pin an input that only its own resistor holds high. */
#define PIN_PULL_UP(port, pin) \
    do { \
        write_field(&GPIO_PUPDR(port), (pin), 2, 1); \
        write_field(&GPIO_MODER(port), (pin), 2, 0); \
    } while (0)
#endif

#endif
