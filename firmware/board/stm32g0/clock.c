#include "board/clock.h"

#include "board/oscillators.h"
#include "board_table.h"
#include "registers.h"

/* RM0444, section 5.2. */
enum { HSE_HZ = BOARD_HSE_HZ };

/* Either source / M = the PLL's input, x N, / R = the core's clock (5.4.4). */
enum { PLL_HZ = BOARD_PLL_HZ, PLL_N = BOARD_PLL_N, PLL_R = BOARD_PLL_R };

/* In range 1, which a reset chooses: RM0444, section 3.3.4. */
enum { FLASH_WAIT_STATES = BOARD_WAIT_STATES };

#ifdef TAILSCOPE_ART_OFF
#define FLASH_ACCELERATOR 0u
#else
#define FLASH_ACCELERATOR (FLASH_ACR_PRFTEN | FLASH_ACR_ICEN)
#endif

static bool start_pll(uint32_t source, uint32_t source_hz) {
    RCC_PLLCFGR = (uint32_t)(PLL_R - 1) << RCC_PLLCFGR_R_Pos | RCC_PLLCFGR_REN |
                  (uint32_t)PLL_N << RCC_PLLCFGR_N_Pos |
                  (source_hz / PLL_HZ - 1u) << RCC_PLLCFGR_M_Pos | source;
    RCC_CR |= RCC_CR_PLLON;
    return wait_for(&RCC_CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY);
}

static bool start_oscillators(clock_source wanted) {
    return start_hse(wanted) ? start_pll(RCC_PLLCFGR_SRC_HSE, HSE_HZ)
                             : start_pll(RCC_PLLCFGR_SRC_HSI, HSI_HZ);
}

/* The wait states are set, and read back, before the clock is made faster (3.3.4). */
static bool start_flash(void) {
    FLASH_ACR = FLASH_ACR_DBG_SWEN | FLASH_WAIT_STATES | FLASH_ACCELERATOR;
    return wait_for(&FLASH_ACR, FLASH_ACR_LATENCY_Msk, FLASH_WAIT_STATES);
}

bool clock_start(clock_source wanted) {
    if (!start_oscillators(wanted) || !start_flash()) {
        return false;
    }
    RCC_CFGR = DIVIDER_BITS(BOARD_APB1_DIVIDER) << RCC_CFGR_PPRE_Pos | RCC_CFGR_SW_PLL;
    return wait_for(&RCC_CFGR, RCC_CFGR_SWS_Msk, RCC_CFGR_SWS_PLL);
}

static bool runs_from_pll(void) {
    return (RCC_CFGR & RCC_CFGR_SWS_Msk) == RCC_CFGR_SWS_PLL;
}

clock_source clock_source_now(void) {
    if (!runs_from_pll() || (RCC_PLLCFGR & RCC_PLLCFGR_SRC_Msk) != RCC_PLLCFGR_SRC_HSE) {
        return CLOCK_INTERNAL;
    }
    return (RCC_CR & RCC_CR_HSEBYP) != 0u ? CLOCK_BYPASS : CLOCK_CRYSTAL;
}

uint32_t clock_core_hz(void) {
    if (!runs_from_pll()) {
        return HSI_HZ;
    }
    const uint32_t config = RCC_PLLCFGR;
    const uint32_t m = (config >> RCC_PLLCFGR_M_Pos & 7u) + 1u;
    const uint32_t n = config >> RCC_PLLCFGR_N_Pos & 0x7Fu;
    const uint32_t r = (config >> RCC_PLLCFGR_R_Pos & 7u) + 1u;
    return (clock_source_now() == CLOCK_INTERNAL ? HSI_HZ : HSE_HZ) / m * n / r;
}

uint32_t clock_apb1_hz(void) {
    const bool divided = (RCC_CFGR & 4u << RCC_CFGR_PPRE_Pos) != 0u;
    return divided ? clock_core_hz() / BOARD_APB1_DIVIDER : clock_core_hz();
}

uint32_t clock_flash_acr(void) {
    return FLASH_ACR & (FLASH_ACR_LATENCY_Msk | FLASH_ACR_PRFTEN | FLASH_ACR_ICEN);
}
