#include "board/clock.h"

#include "board/oscillators.h"
#include "board_table.h"
#include "registers.h"

static bool start_oscillators(clock_source wanted);

bool clock_start(clock_source wanted) {
    if (!start_oscillators(wanted) || !start_flash()) {
        return false;
    }
    RCC_CFGR = DIVIDER_BITS(BOARD_APB1_DIVIDER) << RCC_CFGR_PPRE1_Pos | RCC_CFGR_SW_PLL;
    return wait_for(&RCC_CFGR, RCC_CFGR_SWS_Msk, RCC_CFGR_SWS_PLL);
}

PART_OF_CORE_HZ uint32_t hz_without_pll(void) {
    return HSI_HZ;
}

#include "board/pll_r.inc"
