#include "board/oscillators.h"

/* RM0008, section 7.2. The PLL has half of the HSI. */
enum { PLL_HSI_HZ = HSI_HZ / 2 };

/* PLLMUL (7.3.2): 2 is 0. From the HSI the PLL makes 64 MHz at most: a run goes on at that, and
 * says so. */
enum { PLL_HSI_MULTIPLIER = 16 };

/* Source, factor and dividers may be written only while the PLL is off (7.3.2). */
static bool start_pll(uint32_t source_bit, uint32_t multiplier) {
    RCC_CFGR = BUS_DIVIDERS | source_bit | (multiplier - 2u) << RCC_CFGR_PLLMUL_Pos;
    return lock_pll();
}

bool clock_start(clock_source wanted) {
    const bool external = start_hse(wanted);
    const bool locked =
        external ? start_pll(PLL_SOURCE_HSE, BOARD_PLL_N) : start_pll(0, PLL_HSI_MULTIPLIER);
    if (!locked || !start_flash()) {
        return false;
    }
    RCC_CFGR |= RCC_CFGR_SW_PLL;
    return await_pll();
}

clock_source clock_source_now(void) {
    const bool from_pll = (RCC_CFGR & RCC_CFGR_SWS_Msk) == RCC_CFGR_SWS_PLL;
    if (!from_pll || (RCC_CFGR & PLL_SOURCE_HSE) == 0u) {
        return CLOCK_INTERNAL;
    }
    return (RCC_CR & RCC_CR_HSEBYP) != 0u ? CLOCK_BYPASS : CLOCK_CRYSTAL;
}

uint32_t clock_core_hz(void) {
    const uint32_t config = RCC_CFGR;
    if ((config & RCC_CFGR_SWS_Msk) != RCC_CFGR_SWS_PLL) {
        return HSI_HZ;
    }
    const uint32_t multiplier = FIELD(config, RCC_CFGR_PLLMUL) + 2u;
    return ((config & PLL_SOURCE_HSE) != 0u ? BOARD_HSE_HZ : PLL_HSI_HZ) * multiplier;
}

#define CORE_CLOCK_IS_READ
#include "board/clock_read.h"
