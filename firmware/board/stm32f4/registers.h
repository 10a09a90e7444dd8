/**
 * What an STM32F4 has otherwise than others. "RM" is ST's RM0368; F411 (RM0383) and F446 (RM0390)
 * have the same.
 */
#pragma once

/* Base addresses, RM 2.3 */
#define GPIOA 0x40020000
#define GPIOB 0x40020400
#define RCC 0x40023800
#define FLASH 0x40023C00

/* Reset and clock control, RM 6.3 */
#define RCC_PLLCFGR REGISTER(RCC + 0x04) /* 6.3.2 */
#define RCC_PLLCFGR_M_Pos 0u
#define RCC_PLLCFGR_N_Pos 6u
#define RCC_PLLCFGR_P_Pos 16u
#define PLL_SOURCE RCC_PLLCFGR
#define PLL_SOURCE_Msk (1u << 22)
#define PLL_SOURCE_HSE (1u << 22)
#define RCC_PLLCFGR_Q_Pos 24u
#define RCC_PLLCFGR_R_Pos 28u /* RM0390, 6.3.2 */
#define RCC_CFGR_OFFSET 0x08  /* 6.3.3 */
#define RCC_CFGR_SW_PLL (2u << 0)
#define RCC_CFGR_PPRE1_Pos 10u
#define RCC_CFGR_PPRE2_Pos 13u
#define RCC_PORTS_OFFSET 0x30 /* AHB1ENR, 6.3.9 */
#define RCC_APB1_OFFSET 0x40  /* APB1ENR, 6.3.11 */
#define RCC_CSR_OFFSET 0x74   /* 6.3.18 */
#define RCC_CSR_RMVF (1u << 24)
#define RCC_DCKCFGR REGISTER(RCC + 0x8C) /* RM0390, 6.3.25 */
#define RCC_DCKCFGR_TIMPRE (1u << 24)

/* Power control, RM 5.4 */
#define PWR_CR REGISTER(PWR + 0x00) /* 5.4.1 */
#define PWR_CR_VOS_Msk (3u << 14)
#define PWR_CR_VOS_Pos 14u
#define PWR_CR_ODEN (1u << 16)   /* RM0390, 5.4.1 */
#define PWR_CR_ODSWEN (1u << 17) /* RM0390, 5.4.1 */
#define PWR_CSR REGISTER(PWR + 0x04)
#define PWR_CSR_ODRDY (1u << 16)   /* RM0390, 5.4.2 */
#define PWR_CSR_ODSWRDY (1u << 17) /* RM0390, 5.4.2 */

#define FLASH_ACR_LATENCY_Msk 0xFu /* RM 3.8.1 */
#define FLASH_ACCELERATOR (FLASH_ACR_PRFTEN | FLASH_ACR_ICEN | FLASH_ACR_DCEN)
#define USART_HAS_ONE_REGISTER

/* Interrupt numbers, RM 10.1.3: for programs that take the board as it is. The bench has those of
 * the board's table. */
#define IRQ_TIM2 28u
#define IRQ_TIM5 50u

/* RM 6.2: the core starts on the HSI. */
#define HSI_HZ 16000000

#include "board/stm32.h"
