/** What an STM32G4 has otherwise than others. "RM" is ST's RM0440. */
#pragma once

/* Reset and clock control, RM 7.4 */
#define RCC_CFGR_OFFSET 0x08 /* 7.4.3 */
#define RCC_CFGR_SW_PLL (3u << 0)
#define RCC_CFGR_HPRE_HALF (8u << 4)
#define RCC_CFGR_PPRE1_Pos 8u
#define RCC_CFGR_PPRE2_Pos 11u
#define RCC_PLLCFGR_M_Msk 0xFu /* 7.4.4 */
#define RCC_PLLCFGR_REN (1u << 24)
#define RCC_PLLCFGR_R_Pos 25u
#define RCC_PLLCFGR_R_Msk 3u
#define RCC_PLLCFGR_R_STEP 2u
#define RCC_PORTS_OFFSET 0x4C /* AHB2ENR, 7.4.17 */
#define RCC_APB1_OFFSET 0x58  /* APB1ENR1, 7.4.19 */
#define RCC_CSR_OFFSET 0x94   /* 7.4.28 */
#define RCC_CSR_RMVF (1u << 23)

/* Power control, RM 6.4 */
#define PWR_CR3 REGISTER(PWR + 0x08) /* 6.4.3 */
#define PWR_CR3_UCPD1_DBDIS (1u << 14)
#define PWR_SR2 REGISTER(PWR + 0x14) /* 6.4.6 */
#define PWR_SR2_VOSF (1u << 10)
#define PWR_CR5 REGISTER(PWR + 0x80) /* 6.4.22 */
#define PWR_CR5_R1MODE (1u << 8)

/* Flash interface, RM 3.7.1 */
#define FLASH_ACR_LATENCY_Msk 15u
#define FLASH_ACR_ALWAYS FLASH_ACR_DBG_SWEN
#define FLASH_ACCELERATOR (FLASH_ACR_PRFTEN | FLASH_ACR_ICEN | FLASH_ACR_DCEN)
#define FLASH_ACR_TOLD (FLASH_ACR_LATENCY_Msk | FLASH_ACCELERATOR)

/* RM 7.2: the core starts on the HSI16. */
#define HSI_HZ 16000000

#include "board/stm32.h"
