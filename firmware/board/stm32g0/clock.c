
#include "board/oscillators.h"

static bool start_oscillators(clock_source wanted);

bool clock_start(clock_source wanted) {
    if (!start_oscillators(wanted) || !start_flash()) {
        return false;
    }
    RCC_CFGR = BUS_DIVIDERS | RCC_CFGR_SW_PLL;
    return await_pll();
}

PART_OF_CORE_HZ uint32_t hz_without_pll(void) {
    return HSI_HZ;
}

#include "board/pll_r.inc"
