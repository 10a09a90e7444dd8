/**
 * The clock tree, as the board's table has it: a PLL from HSE or HSI, APB1 behind a divider, the
 * bench's timers at the core's rate.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** What the PLL makes the core's clock of. */
typedef enum {
    CLOCK_BYPASS = 0,  /**< a clock at OSC_IN: the ST-Link's */
    CLOCK_CRYSTAL = 1, /**< a crystal of 8 MHz */
    CLOCK_INTERNAL = 2 /**< the HSI, which is some per cent off */
} clock_source;

/**
 * Moves the core to the PLL, fed from what is wanted; from the HSI if that never becomes ready.
 * False, and still on the HSI without the PLL, if the PLL does not either.
 */
bool clock_start(clock_source wanted);

/** What the core's clock comes from, read back from the registers. */
clock_source clock_source_now(void);

/** Core clock in Hz, read back from the registers. */
uint32_t clock_core_hz(void);

/** Clock of the APB1 peripherals in Hz, read back from the registers. */
uint32_t clock_apb1_hz(void);

/** FLASH_ACR: wait states, prefetch and caches as they are now. */
uint32_t clock_flash_acr(void);
