/** What an STM32L4 has otherwise than others. "RM" is ST's RM0351. */
#pragma once

/* Reset and clock control, RM 6.4 */
#define RCC_CR_HSION (1u << 8)
#define RCC_CR_HSIRDY (1u << 10)
#define RCC_CFGR_SW_HSI (1u << 0)
#define RCC_CFGR_SWS_HSI (1u << 2)
#define RCC_PLLCFGR_M_Msk 7u /* 6.4.4 */
#define RCC_CSR_CAUSES (0xFFu << 24)

/* Power control, RM 5.4 */
#define PWR_CR1 REGISTER(PWR + 0x00) /* 5.4.1 */
#define PWR_CR1_VOS_Pos 9u
#define PWR_CR1_VOS_Msk (3u << PWR_CR1_VOS_Pos)

/* RM 6.2: the core starts on the MSI. */
#define HSI_HZ 16000000
#define CORE_HZ_AT_RESET 4000000

#include "board/stm32l4_g4.h"
