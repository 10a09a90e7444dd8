/** The clock tree: 84 MHz from the ST-Link's 8 MHz, APB1 at half, its timers at the core's rate. */
#ifndef TAILSCOPE_BOARD_CLOCK_H
#define TAILSCOPE_BOARD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Moves the core from the HSI to the PLL. False, and still on the HSI, if HSE or PLL never become
 * ready.
 */
bool clock_start(void);

/** Core clock in Hz, read back from the registers. */
uint32_t clock_core_hz(void);

/** Clock of the APB1 peripherals in Hz, read back from the registers. */
uint32_t clock_apb1_hz(void);

/** FLASH_ACR: wait states, prefetch and caches as they are now. */
uint32_t clock_flash_acr(void);

#endif
