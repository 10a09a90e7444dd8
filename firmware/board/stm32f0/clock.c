#include "board/oscillators.h"

/* RM0091, section 6.2. Either source / PREDIV = the PLL's input, x PLLMUL = the core's clock
 * (6.4.2, 6.4.12). */
static bool start_pll(uint32_t source, uint32_t source_hz) {
    RCC_CFGR2 = source_hz / BOARD_PLL_HZ - 1u;
    RCC_CFGR = source | (uint32_t)(BOARD_PLL_N - 2) << RCC_CFGR_PLLMUL_Pos | BUS_DIVIDERS;
    return lock_pll();
}

static bool start_oscillators(clock_source wanted) {
    return start_hse(wanted) ? start_pll(PLL_SOURCE_HSE, BOARD_HSE_HZ)
                             : start_pll(PLL_SOURCE_HSI, HSI_HZ);
}

bool clock_start(clock_source wanted) {
    if (!start_oscillators(wanted) || !start_flash()) {
        return false;
    }
    RCC_CFGR |= RCC_CFGR_SW_PLL;
    return await_pll();
}

PART_OF_CORE_HZ uint32_t pll_makes_hz(void) {
    const uint32_t divider = FIELD(RCC_CFGR2, RCC_CFGR2_PREDIV) + 1u;
    const uint32_t multiplier = FIELD(RCC_CFGR, RCC_CFGR_PLLMUL) + 2u;
    return (clock_source_now() == CLOCK_INTERNAL ? HSI_HZ : BOARD_HSE_HZ) / divider * multiplier;
}

#include "board/clock_read.h"
