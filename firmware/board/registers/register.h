/** A register by its address. */
#ifndef TAILSCOPE_BOARD_REGISTERS_REGISTER_H
#define TAILSCOPE_BOARD_REGISTERS_REGISTER_H

#ifndef __ASSEMBLER__

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

/** Turns clocks of peripherals on. They run two cycles later, so the register is read back. */
static inline void turn_on(volatile uint32_t *enables, uint32_t bits) {
    *enables |= bits;
    (void)*enables; /* errata ES0299, section on RCC */
}

#endif
#endif
