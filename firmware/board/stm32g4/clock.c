#include "board/clock.h"

#include "board/oscillators.h"
#include "board_table.h"
#include "registers.h"

/* RM0440, section 7.2. */
enum { HSE_HZ = BOARD_HSE_HZ };

/* Either source / M = the PLL's input, x N, / R = the core's clock (7.4.4). */
enum { PLL_HZ = BOARD_PLL_HZ, PLL_N = BOARD_PLL_N, PLL_R = BOARD_PLL_R };

/* A poll takes four cycles or more, and the clock is 85 MHz at the most then. */
enum { PLL_HALVED_POLLS = 25 };

/* In range 1, with or without boost: RM0440, section 3.3.3. */
enum { FLASH_WAIT_STATES = BOARD_WAIT_STATES };

#ifdef TAILSCOPE_ART_OFF
#define FLASH_ACCELERATOR 0u
#else
#define FLASH_ACCELERATOR (FLASH_ACR_PRFTEN | FLASH_ACR_ICEN | FLASH_ACR_DCEN)
#endif

/* More than 150 MHz need the boost (RM0440, section 6.1.5). PB4, which is SYNC, is also a line of
 * USB-C's that 5.1 kilohm hold low until a program says that no power comes from there (6.4.3). */
static bool choose_voltage_range(void) {
    turn_on(&RCC_APB1ENR1, RCC_ENABLE_PWR);
    PWR_CR3 |= PWR_CR3_UCPD1_DBDIS;
#ifdef BOARD_BOOST
    PWR_CR5 &= ~PWR_CR5_R1MODE;
#endif
    return wait_for(&PWR_SR2, PWR_SR2_VOSF, 0);
}

static bool start_pll(uint32_t source, uint32_t source_hz) {
    RCC_PLLCFGR = (uint32_t)(PLL_R / 2 - 1) << RCC_PLLCFGR_R_Pos | RCC_PLLCFGR_REN |
                  (uint32_t)PLL_N << RCC_PLLCFGR_N_Pos |
                  (source_hz / PLL_HZ - 1u) << RCC_PLLCFGR_M_Pos | source;
    RCC_CR |= RCC_CR_PLLON;
    return wait_for(&RCC_CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY);
}

static bool start_oscillators(clock_source wanted) {
    return start_hse(wanted) ? start_pll(RCC_PLLCFGR_SRC_HSE, HSE_HZ)
                             : start_pll(RCC_PLLCFGR_SRC_HSI, HSI_HZ);
}

/* The wait states are set, and read back, before the clock is made faster (3.3.3). */
static bool start_flash(void) {
    FLASH_ACR = FLASH_ACR_DBG_SWEN | FLASH_WAIT_STATES | FLASH_ACCELERATOR;
    return wait_for(&FLASH_ACR, FLASH_ACR_LATENCY_Msk, FLASH_WAIT_STATES);
}

bool clock_start(clock_source wanted) {
    if (!choose_voltage_range() || !start_oscillators(wanted) || !start_flash()) {
        return false;
    }
    const uint32_t dividers = DIVIDER_BITS(BOARD_APB1_DIVIDER) << RCC_CFGR_PPRE1_Pos |
                              DIVIDER_BITS(BOARD_APB2_DIVIDER) << RCC_CFGR_PPRE2_Pos;
    /* Half the clock for a microsecond or more: the regulator follows (6.1.5, 7.2.7). */
    RCC_CFGR = dividers | RCC_CFGR_HPRE_HALF | RCC_CFGR_SW_PLL;
    const bool switched = wait_for(&RCC_CFGR, RCC_CFGR_SWS_Msk, RCC_CFGR_SWS_PLL);
    (void)wait_polls(&RCC_CFGR, 0, 1, PLL_HALVED_POLLS);
    RCC_CFGR = dividers | RCC_CFGR_SW_PLL;
    return switched;
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
    const uint32_t m = (config >> RCC_PLLCFGR_M_Pos & 0xFu) + 1u;
    const uint32_t n = config >> RCC_PLLCFGR_N_Pos & 0x7Fu;
    const uint32_t r = ((config >> RCC_PLLCFGR_R_Pos & 3u) + 1u) * 2u;
    return (clock_source_now() == CLOCK_INTERNAL ? HSI_HZ : HSE_HZ) / m * n / r;
}

uint32_t clock_apb1_hz(void) {
    const bool divided = (RCC_CFGR & 4u << RCC_CFGR_PPRE1_Pos) != 0u;
    return divided ? clock_core_hz() / BOARD_APB1_DIVIDER : clock_core_hz();
}

uint32_t clock_flash_acr(void) {
    return FLASH_ACR & (FLASH_ACR_LATENCY_Msk | FLASH_ACR_PRFTEN | FLASH_ACR_ICEN | FLASH_ACR_DCEN);
}
