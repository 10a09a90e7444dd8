#include "board/clock.h"

#include "board/oscillators.h"
#include "board_table.h"
#include "registers.h"

static bool start_oscillators(clock_source wanted);

/* In range 1, which a reset chooses: RM0444, section 3.3.4. */
enum { FLASH_WAIT_STATES = BOARD_WAIT_STATES };

#ifdef TAILSCOPE_ART_OFF
#define FLASH_ACCELERATOR 0u
#else
#define FLASH_ACCELERATOR (FLASH_ACR_PRFTEN | FLASH_ACR_ICEN)
#endif

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

static uint32_t hz_without_pll(void) {
    return HSI_HZ;
}

#include "board/pll_r.inc"

uint32_t clock_apb1_hz(void) {
    const bool divided = (RCC_CFGR & 4u << RCC_CFGR_PPRE_Pos) != 0u;
    return divided ? clock_core_hz() / BOARD_APB1_DIVIDER : clock_core_hz();
}

uint32_t clock_flash_acr(void) {
    return FLASH_ACR & (FLASH_ACR_LATENCY_Msk | FLASH_ACR_PRFTEN | FLASH_ACR_ICEN);
}
