#include "board/oscillators.h"

static bool start_oscillators(clock_source wanted);

static bool choose_voltage_range(void) {
    turn_on(&RCC_APB1, RCC_ENABLE_PWR);
    PWR_CR1 = (PWR_CR1 & ~PWR_CR1_VOS_Msk) | (uint32_t)BOARD_VOLTAGE_RANGE << PWR_CR1_VOS_Pos;
    return wait_for(&PWR_SR2, PWR_SR2_VOSF, 0);
}

/* The core starts on the MSI at 4 MHz, too slow for the serial line. On the HSI it can tell that
 * the PLL did not start. */
static bool move_to_hsi(void) {
    RCC_CR |= RCC_CR_HSION;
    if (!wait_for(&RCC_CR, RCC_CR_HSIRDY, RCC_CR_HSIRDY)) {
        return false;
    }
    RCC_CFGR = RCC_CFGR_SW_HSI;
    return wait_for(&RCC_CFGR, RCC_CFGR_SWS_Msk, RCC_CFGR_SWS_HSI);
}

bool clock_start(clock_source wanted) {
    if (!choose_voltage_range() || !move_to_hsi() || !start_oscillators(wanted) || !start_flash()) {
        return false;
    }
    RCC_CFGR = BUS_DIVIDERS | RCC_CFGR_SW_PLL;
    return await_pll();
}

#include "board/pll_r.inc"
