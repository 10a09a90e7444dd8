/** What an STM32L4 has otherwise than others. "RM" is ST's RM0351. */
#pragma once

/* Reset and clock control, RM 6.4 */
#define RCC_CR_HSION (1u << 8)
#define RCC_CR_HSIRDY (1u << 10)
#define RCC_CFGR_OFFSET 0x08 /* 6.4.3 */
#define RCC_CFGR_SW_HSI (1u << 0)
#define RCC_CFGR_SW_PLL (3u << 0)
#define RCC_CFGR_SWS_HSI (1u << 2)
#define RCC_CFGR_PPRE1_Pos 8u
#define RCC_CFGR_PPRE2_Pos 11u
#define RCC_PLLCFGR_M_Msk 7u /* 6.4.4 */
#define RCC_PLLCFGR_REN (1u << 24)
#define RCC_PLLCFGR_R_Pos 25u
#define RCC_PLLCFGR_R_Msk 3u
#define RCC_PLLCFGR_R_STEP 2u
#define RCC_PORTS_OFFSET 0x4C /* AHB2ENR, 6.4.17 */
#define RCC_APB1_OFFSET 0x58  /* APB1ENR1, 6.4.19 */
#define RCC_CSR_OFFSET 0x94   /* 6.4.29 */
#define RCC_CSR_RMVF (1u << 23)
#define RCC_CSR_CAUSES (0xFFu << 24)

/* Power control, RM 5.4 */
#define PWR_CR1 REGISTER(PWR + 0x00) /* 5.4.1 */
#define PWR_CR1_VOS_Pos 9u
#define PWR_CR1_VOS_Msk (3u << PWR_CR1_VOS_Pos)
#define PWR_SR2 REGISTER(PWR + 0x14) /* 5.4.6 */
#define PWR_SR2_VOSF (1u << 10)

#define FLASH_ACCELERATOR (FLASH_ACR_PRFTEN | FLASH_ACR_ICEN | FLASH_ACR_DCEN) /* RM 3.7.1 */

/* RM 6.2: the core starts on the MSI. */
#define HSI_HZ 16000000
#define CORE_HZ_AT_RESET 4000000

#include "board/stm32.h"
