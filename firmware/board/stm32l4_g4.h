/** What an STM32L4 (RM0351) and an STM32G4 (RM0440) have alike, and otherwise than others. */
#pragma once

/* Reset and clock control, RM0351 6.4, RM0440 7.4 */
#define RCC_CFGR_OFFSET 0x08 /* 6.4.3; 7.4.3 */
#define RCC_CFGR_SW_PLL (3u << 0)
#define RCC_CFGR_PPRE1_Pos 8u
#define RCC_CFGR_PPRE2_Pos 11u
#define RCC_PLLCFGR_REN (1u << 24) /* 6.4.4; 7.4.4 */
#define RCC_PLLCFGR_R_Pos 25u
#define RCC_PLLCFGR_R_Msk 3u
#define RCC_PLLCFGR_R_STEP 2u
#define RCC_PORTS_OFFSET 0x4C /* AHB2ENR, 6.4.17; 7.4.17 */
#define RCC_APB1_OFFSET 0x58  /* APB1ENR1, 6.4.19; 7.4.19 */
#define RCC_CSR_OFFSET 0x94   /* 6.4.29; 7.4.28 */
#define RCC_CSR_RMVF (1u << 23)

/* Power control, RM0351 5.4, RM0440 6.4 */
#define PWR_SR2 REGISTER(PWR + 0x14) /* 5.4.6; 6.4.6 */
#define PWR_SR2_VOSF (1u << 10)

#define FLASH_ACCELERATOR (FLASH_ACR_PRFTEN | FLASH_ACR_ICEN | FLASH_ACR_DCEN) /* 3.7.1 of both */

#include "board/stm32.h"
