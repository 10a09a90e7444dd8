/** What an STM32G0 has otherwise than others. "RM" is ST's RM0444. */
#pragma once

/* Base addresses, RM 2.2 */
#define GPIOA 0x50000000
#define GPIOB 0x50000400

/* Reset and clock control, RM 5.4 */
#define RCC_CFGR_OFFSET 0x08 /* 5.4.3 */
#define RCC_CFGR_SW_PLL (2u << 0)
#define RCC_CFGR_SWS_Pos 3
#define RCC_CFGR_SWS_Msk (7u << 3)
#define RCC_CFGR_PPRE1_Pos 12u
#define RCC_PLLCFGR_M_Msk 7u /* 5.4.4 */
#define RCC_PLLCFGR_REN (1u << 28)
#define RCC_PLLCFGR_R_Pos 29u
#define RCC_PLLCFGR_R_Msk 7u
#define RCC_PLLCFGR_R_STEP 1u
#define RCC_PORTS_OFFSET 0x34 /* IOPENR, 5.4.13 */
#define RCC_APB1_OFFSET 0x3C  /* APBENR1, 5.4.15 */
#define RCC_CSR_OFFSET 0x60   /* 5.4.24 */
#define RCC_CSR_RMVF (1u << 23)

/* Flash interface, RM 3.7.1 */
#define FLASH_ACR_ALWAYS FLASH_ACR_DBG_SWEN
#define FLASH_ACCELERATOR (FLASH_ACR_PRFTEN | FLASH_ACR_ICEN)
#define FLASH_ACR_TOLD (FLASH_ACR_LATENCY_Msk | FLASH_ACCELERATOR)

/* RM 5.2: the core starts on the HSI16. */
#define HSI_HZ 16000000

#include "board/stm32.h"
