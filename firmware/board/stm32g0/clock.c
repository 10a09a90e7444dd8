#include "board/oscillators.h"

static bool start_oscillators(clock_source wanted);

bool clock_start(clock_source wanted) {
    if (!start_oscillators(wanted) || !start_flash()) {
        return false;
    }
    RCC_CFGR = BUS_DIVIDERS | RCC_CFGR_SW_PLL;
    return await_pll();
}

#include "board/pll_r.inc"
