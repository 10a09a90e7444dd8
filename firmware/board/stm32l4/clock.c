#include "board/clock.h"

#include "board/oscillators.h"
#include "board_table.h"
#include "registers.h"

static bool start_oscillators(clock_source wanted);

/* In range 1: RM0351, section 3.3.3. */
enum { FLASH_WAIT_STATES = BOARD_WAIT_STATES };

#ifdef TAILSCOPE_ART_OFF
#define FLASH_ACCELERATOR 0u
#else
#define FLASH_ACCELERATOR (FLASH_ACR_PRFTEN | FLASH_ACR_ICEN | FLASH_ACR_DCEN)
#endif

static bool choose_voltage_range(void) {
    turn_on(&RCC_APB1ENR1, RCC_ENABLE_PWR);
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

/* The wait states are set, and read back, before the clock is made faster (3.3.3). */
static bool start_flash(void) {
    FLASH_ACR = FLASH_WAIT_STATES | FLASH_ACCELERATOR;
    return wait_for(&FLASH_ACR, FLASH_ACR_LATENCY_Msk, FLASH_WAIT_STATES);
}

bool clock_start(clock_source wanted) {
    if (!choose_voltage_range() || !move_to_hsi() || !start_oscillators(wanted) || !start_flash()) {
        return false;
    }
    RCC_CFGR = DIVIDER_BITS(BOARD_APB1_DIVIDER) << RCC_CFGR_PPRE1_Pos |
               DIVIDER_BITS(BOARD_APB2_DIVIDER) << RCC_CFGR_PPRE2_Pos | RCC_CFGR_SW_PLL;
    return wait_for(&RCC_CFGR, RCC_CFGR_SWS_Msk, RCC_CFGR_SWS_PLL);
}

static uint32_t hz_without_pll(void) {
    const bool from_hsi = (RCC_CFGR & RCC_CFGR_SWS_Msk) == RCC_CFGR_SWS_HSI;
    return from_hsi ? HSI_HZ : CORE_HZ_AT_RESET;
}

#include "board/pll_r.inc"

uint32_t clock_apb1_hz(void) {
    const bool divided = (RCC_CFGR & 4u << RCC_CFGR_PPRE1_Pos) != 0u;
    return divided ? clock_core_hz() / BOARD_APB1_DIVIDER : clock_core_hz();
}

uint32_t clock_flash_acr(void) {
    return FLASH_ACR;
}
