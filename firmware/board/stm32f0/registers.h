/** What an STM32F07x has otherwise than others. "RM" is ST's RM0091. */
#pragma once

/* Reset and clock control, RM 6.4 */
#define RCC_CFGR_OFFSET 0x04 /* 6.4.2 */
#define RCC_CFGR_SW_PLL (2u << 0)
#define RCC_CFGR_PPRE1_Pos 8u
#define PLL_SOURCE RCC_CFGR
#define PLL_SOURCE_Msk (3u << 15)
#define PLL_SOURCE_HSI (1u << 15)
#define PLL_SOURCE_HSE (2u << 15)
#define RCC_CFGR_PLLMUL_Pos 18u
#define RCC_PORTS_OFFSET 0x14 /* AHBENR, 6.4.6 */
#define RCC_ENABLE_GPIOA (1u << 17)
#define RCC_ENABLE_GPIOB (1u << 18)
#define RCC_APB1_OFFSET 0x1C /* APB1ENR, 6.4.8 */
#define RCC_CSR_OFFSET 0x24  /* 6.4.10 */
#define RCC_CSR_RMVF (1u << 24)
#define RCC_CFGR2 REGISTER(RCC + 0x2C) /* 6.4.12 */

/* Flash interface, RM 3.5.1 */
#define FLASH_ACCELERATOR FLASH_ACR_PRFTBE
#define FLASH_ACR_TOLD (~FLASH_ACR_PRFTBS)

/* RM 8.4.3: 0 and 2 are the lowest of three speeds, 1 the middle, 3 the highest. */
#define PIN_SPEED_FAST 3

/* RM 6.2: the core starts on the HSI. */
#define HSI_HZ 8000000

#include "board/stm32.h"
