#include "board/oscillators.h"

#ifndef BOARD_PLL_R
#define BOARD_PLL_R 0 /* a second output, which not every chip has */
#endif

/* A scale (RM0368, section 5.4.1) may be chosen only while the PLL is off. */
static void choose_voltage_scale(void) {
    turn_on(&RCC_APB1, RCC_ENABLE_PWR);
    PWR_CR = (PWR_CR & ~PWR_CR_VOS_Msk) | (uint32_t)BOARD_VOLTAGE_SCALE << PWR_CR_VOS_Pos;
}

/* RM0368, section 6.2. Either source / M = the PLL's input (2 MHz has the least jitter), x N, / P =
 * the core's clock; Q keeps the unused 48 MHz domain in range (6.3.2). */
static bool start_pll(uint32_t source_bit, uint32_t source_hz) {
    RCC_PLLCFGR =
        (uint32_t)BOARD_PLL_R << RCC_PLLCFGR_R_Pos | (uint32_t)BOARD_PLL_Q << RCC_PLLCFGR_Q_Pos |
        source_bit | (uint32_t)(BOARD_PLL_P / 2 - 1) << RCC_PLLCFGR_P_Pos |
        (uint32_t)BOARD_PLL_N << RCC_PLLCFGR_N_Pos | source_hz / BOARD_PLL_HZ << RCC_PLLCFGR_M_Pos;
    return lock_pll();
}

static bool start_oscillators(clock_source wanted) {
    return start_hse(wanted) ? start_pll(PLL_SOURCE_HSE, BOARD_HSE_HZ) : start_pll(0, HSI_HZ);
}

/* What more than scale 1 takes, while the core runs from HSI or HSE (RM0390, section 5.1.4). */
static bool start_over_drive(void) {
#ifdef BOARD_OVER_DRIVE
    PWR_CR |= PWR_CR_ODEN;
    if (!wait_for(&PWR_CSR, PWR_CSR_ODRDY, PWR_CSR_ODRDY)) {
        return false;
    }
    PWR_CR |= PWR_CR_ODSWEN;
    return wait_for(&PWR_CSR, PWR_CSR_ODSWRDY, PWR_CSR_ODSWRDY);
#else
    return true;
#endif
}

/* Timers count the core's clock: behind a divider of 4, only with TIMPRE (RM0390, section 6.3.25).
 */
static void keep_timers_fast(void) {
#if BOARD_APB1_DIVIDER > 2
    RCC_DCKCFGR |= RCC_DCKCFGR_TIMPRE;
#endif
}

bool clock_start(clock_source wanted) {
    choose_voltage_scale();
    keep_timers_fast();
    if (!start_oscillators(wanted) || !start_over_drive() || !start_flash()) {
        return false;
    }
    RCC_CFGR = BUS_DIVIDERS | RCC_CFGR_SW_PLL;
    return await_pll();
}

PART_OF_CORE_HZ uint32_t pll_makes_hz(void) {
    const uint32_t config = RCC_PLLCFGR;
    const uint32_t m = FIELD(config, RCC_PLLCFGR_M);
    const uint32_t n = FIELD(config, RCC_PLLCFGR_N);
    const uint32_t p = (FIELD(config, RCC_PLLCFGR_P) + 1u) * 2u;
    return (clock_source_now() == CLOCK_INTERNAL ? HSI_HZ : BOARD_HSE_HZ) / m * n / p;
}

#include "board/clock_read.h"
