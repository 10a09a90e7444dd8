/** What an STM32G4 has otherwise than others. "RM" is ST's RM0440. */
#pragma once

/* Reset and clock control, RM 7.4 */
#define RCC_CFGR_HPRE_HALF (8u << 4)
#define RCC_PLLCFGR_M_Msk 0xFu /* 7.4.4 */

/* Power control, RM 6.4 */
#define PWR_CR3 REGISTER(PWR + 0x08) /* 6.4.3 */
#define PWR_CR3_UCPD1_DBDIS (1u << 14)
#define PWR_CR5 REGISTER(PWR + 0x80) /* 6.4.22 */
#define PWR_CR5_R1MODE (1u << 8)

/* Flash interface, RM 3.7.1 */
#define FLASH_ACR_LATENCY_Msk 15u
#define FLASH_ACR_ALWAYS FLASH_ACR_DBG_SWEN
#define FLASH_ACR_TOLD (FLASH_ACR_LATENCY_Msk | FLASH_ACCELERATOR)

/* RM 7.2: the core starts on the HSI16. */
#define HSI_HZ 16000000

#include "board/stm32l4_g4.h"
