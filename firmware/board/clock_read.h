/*
 * What the clocks of all families tell alike. A family's clock.c defines before it pll_makes_hz(),
 * what the PLL makes of its source; its registers.toml has the PLL's sources. With
 * CORE_CLOCK_IS_READ, as on an STM32F1, it tells source and core's clock itself.
 */
#ifndef CORE_CLOCK_IS_READ
static bool runs_from_pll(void) {
    return (RCC_CFGR & RCC_CFGR_SWS_Msk) == RCC_CFGR_SWS_PLL;
}

clock_source clock_source_now(void) {
    if (!runs_from_pll() || (PLL_SOURCE & PLL_SOURCE_Msk) != PLL_SOURCE_HSE) {
        return CLOCK_INTERNAL;
    }
    return (RCC_CR & RCC_CR_HSEBYP) != 0u ? CLOCK_BYPASS : CLOCK_CRYSTAL;
}

uint32_t clock_core_hz(void) {
    if (!runs_from_pll()) {
#if CORE_HZ_AT_RESET == HSI_HZ
        return HSI_HZ;
#else
        return (RCC_CFGR & RCC_CFGR_SWS_Msk) == RCC_CFGR_SWS_HSI ? HSI_HZ : CORE_HZ_AT_RESET;
#endif
    }
    return pll_makes_hz();
}

#endif

uint32_t clock_apb1_hz(void) {
    const bool divided = (RCC_CFGR & 4u << RCC_CFGR_PPRE1_Pos) != 0u;
    return divided ? clock_core_hz() / BOARD_APB1_DIVIDER : clock_core_hz();
}

/* Without what FLASH_ACR_TOLD leaves out. */
uint32_t clock_flash_acr(void) {
    return FLASH_ACR & FLASH_ACR_TOLD;
}
