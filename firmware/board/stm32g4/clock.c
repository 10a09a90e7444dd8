#include "board/oscillators.h"

static bool start_oscillators(clock_source wanted);

/* A poll takes four cycles or more, and the clock is 85 MHz at the most then. */
enum { PLL_HALVED_POLLS = 25 };

/* More than 150 MHz need the boost (RM0440, section 6.1.5). PB4, which is SYNC, is also a line of
 * USB-C's that 5.1 kilohm hold low until a program says that no power comes from there (6.4.3). */
static bool choose_voltage_range(void) {
    turn_on(&RCC_APB1, RCC_ENABLE_PWR);
    PWR_CR3 |= PWR_CR3_UCPD1_DBDIS;
#ifdef BOARD_BOOST
    PWR_CR5 &= ~PWR_CR5_R1MODE;
#endif
    return wait_for(&PWR_SR2, PWR_SR2_VOSF, 0);
}

bool clock_start(clock_source wanted) {
    if (!choose_voltage_range() || !start_oscillators(wanted) || !start_flash()) {
        return false;
    }
    /* Half the clock for a microsecond or more: the regulator follows (6.1.5, 7.2.7). */
    RCC_CFGR = BUS_DIVIDERS | RCC_CFGR_HPRE_HALF | RCC_CFGR_SW_PLL;
    const bool switched = await_pll();
    (void)wait_polls(&RCC_CFGR, 0, 1, PLL_HALVED_POLLS);
    RCC_CFGR = BUS_DIVIDERS | RCC_CFGR_SW_PLL;
    return switched;
}

#include "board/pll_r.inc"
