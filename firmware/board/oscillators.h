/**
 * What the clock of every family begins with: it waits for a bit with an end, and starts the HSE,
 * whose bits of RCC_CR are the same in all, and the flash.
 */
#pragma once

#include "board/clock.h"
#include "board_table.h"
#include "registers.h"

/* The ST-Link's clock, if it is connected, is there before the reset ends: it has 1 ms or more. A
 * crystal takes 2 ms (DS10086, DS10198, DS5319, DS9826): it has 20 ms or more. A PLL locks within
 * 0.3 ms. A poll takes more than four cycles of the HSI. */
enum {
    BYPASS_POLLS = HSI_HZ / 4000,
    CRYSTAL_POLLS = 20 * BYPASS_POLLS,
    READY_POLLS = 50 * BYPASS_POLLS
};

/** A part of clock_core_hz() (clock_read.h), as if it were written there. */
#define PART_OF_CORE_HZ __attribute__((always_inline)) static inline

/** PPREx of RCC_CFGR: a divider of 2 is 4, each further bit of it one more. */
#define DIVIDER_BITS(divider) \
    ((divider) == 1 ? 0u : (divider) == 2 ? 4u : (divider) == 4 ? 5u : (divider) == 8 ? 6u : 7u)

/** The dividers of the two buses, as RCC_CFGR has them; an STM32F0 and G0 have one for both. */
#define BUS_DIVIDERS \
    (DIVIDER_BITS(BOARD_APB1_DIVIDER) << RCC_CFGR_PPRE1_Pos | DIVIDER_BITS(BOARD_APB2_DIVIDER) \
                                                                  << RCC_CFGR_PPRE2_Pos)

/** True as soon as the bits of `mask` have `value`; false if they do not within `polls` reads. */
static inline bool wait_polls(volatile uint32_t *target, uint32_t mask, uint32_t value,
                              uint32_t polls) {
    for (uint32_t poll = 0; poll < polls; poll++) {
        if ((*target & mask) == value) {
            return true;
        }
    }
    return false;
}

/** The same, for as long as the slowest of all but an oscillator takes. */
static inline bool wait_for(volatile uint32_t *target, uint32_t mask, uint32_t value) {
    return wait_polls(target, mask, value, READY_POLLS);
}

/** Starts the PLL as it is set; false if it does not lock. */
static inline bool lock_pll(void) {
    RCC_CR |= RCC_CR_PLLON;
    return wait_for(&RCC_CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY);
}

/** True as soon as the core runs from the PLL. */
static inline bool await_pll(void) {
    return wait_for(&RCC_CFGR, RCC_CFGR_SWS_Msk, RCC_CFGR_SWS_PLL);
}

/**
 * True if the HSE runs. HSEBYP may be written only while it is off. An HSE that does not come is
 * turned off again. A board that is sold with a crystal has no clock there.
 */
static inline bool start_hse(clock_source wanted) {
    if (wanted == CLOCK_INTERNAL) {
        return false;
    }
    const bool bypass = wanted == CLOCK_BYPASS && BOARD_HAS_CRYSTAL == 0;
    RCC_CR = bypass ? RCC_CR | RCC_CR_HSEBYP : RCC_CR & ~RCC_CR_HSEBYP;
    RCC_CR |= RCC_CR_HSEON;
    const uint32_t polls = bypass ? BYPASS_POLLS : CRYSTAL_POLLS;
    if (wait_polls(&RCC_CR, RCC_CR_HSERDY, RCC_CR_HSERDY, polls)) {
        return true;
    }
    RCC_CR &= ~RCC_CR_HSEON;
    return false;
}

/**
 * The wait states are set, and read back, before the clock is made faster; the accelerator is
 * switched while it is slow (RM0368, section 3.4.1; PM0075, 3.1; RM0351, 3.3.3). The table has the
 * wait states of 2.7 V or more and of the voltage range that is chosen.
 */
static inline bool start_flash(void) {
#ifdef TAILSCOPE_ART_OFF
    FLASH_ACR = FLASH_ACR_ALWAYS | BOARD_WAIT_STATES;
#else
    FLASH_ACR = FLASH_ACR_ALWAYS | BOARD_WAIT_STATES | FLASH_ACR_ACCELERATOR_Msk;
#endif
    return wait_for(&FLASH_ACR, FLASH_ACR_LATENCY_Msk, BOARD_WAIT_STATES);
}
