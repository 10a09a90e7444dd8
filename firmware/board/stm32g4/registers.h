/**
 * The registers of an STM32G4 that the firmware uses, and no others. "RM" is ST's RM0440, whose
 * sections these are. Base addresses (RM 2.2) are usable in assembly.
 */
#ifndef TAILSCOPE_BOARD_STM32G4_REGISTERS_H
#define TAILSCOPE_BOARD_STM32G4_REGISTERS_H

#include "board/registers/cortex_m.h"
#include "board/registers/gpio.h"
#include "board/registers/timer.h"
#include "board/registers/usart_v2.h"

#define TIM2 0x40000000
#define TIM3 0x40000400
#define TIM4 0x40000800
#define TIM5 0x40000C00
#define USART2 0x40004400
#define USART3 0x40004800
#define PWR 0x40007000
#define RCC 0x40021000
#define FLASH 0x40022000
#define GPIOA 0x48000000
#define GPIOB 0x48000400

#ifndef __ASSEMBLER__

/* Reset and clock control, RM 7.4 */
#define RCC_CR REGISTER(RCC + 0x00) /* 7.4.1 */
#define RCC_CR_HSEON (1u << 16)
#define RCC_CR_HSERDY (1u << 17)
#define RCC_CR_HSEBYP (1u << 18)
#define RCC_CR_PLLON (1u << 24)
#define RCC_CR_PLLRDY (1u << 25)
#define RCC_CFGR REGISTER(RCC + 0x08) /* 7.4.3 */
#define RCC_CFGR_SW_PLL (3u << 0)
#define RCC_CFGR_SWS_Msk (3u << 2)
#define RCC_CFGR_SWS_PLL (3u << 2)
#define RCC_CFGR_HPRE_HALF (8u << 4)
#define RCC_CFGR_PPRE1_Pos 8u
#define RCC_CFGR_PPRE2_Pos 11u
#define RCC_PLLCFGR REGISTER(RCC + 0x0C) /* 7.4.4 */
#define RCC_PLLCFGR_SRC_Msk (3u << 0)
#define RCC_PLLCFGR_SRC_HSI (2u << 0)
#define RCC_PLLCFGR_SRC_HSE (3u << 0)
#define RCC_PLLCFGR_M_Pos 4u
#define RCC_PLLCFGR_M_Msk 0xFu
#define RCC_PLLCFGR_N_Pos 8u
#define RCC_PLLCFGR_REN (1u << 24)
#define RCC_PLLCFGR_R_Pos 25u
#define RCC_PLLCFGR_R_Msk 3u
#define RCC_PLLCFGR_R_STEP 2u
#define RCC_AHB2ENR REGISTER(RCC + 0x4C) /* 7.4.17 */
#define RCC_ENABLE_GPIOA (1u << 0)
#define RCC_ENABLE_GPIOB (1u << 1)
#define RCC_APB1ENR1 REGISTER(RCC + 0x58) /* 7.4.19 */
#define RCC_ENABLE_TIM2 (1u << 0)
#define RCC_ENABLE_TIM3 (1u << 1)
#define RCC_ENABLE_TIM4 (1u << 2)
#define RCC_ENABLE_TIM5 (1u << 3)
#define RCC_ENABLE_USART2 (1u << 17)
#define RCC_ENABLE_USART3 (1u << 18)
#define RCC_ENABLE_PWR (1u << 28)
#define RCC_CSR REGISTER(RCC + 0x94) /* 7.4.28 */
#define RCC_CSR_RMVF (1u << 23)
#define RCC_CSR_CAUSES (0x7Fu << 25)

/* Power control, RM 6.4 */
#define PWR_CR3 REGISTER(PWR + 0x08) /* 6.4.3 */
#define PWR_CR3_UCPD1_DBDIS (1u << 14)
#define PWR_SR2 REGISTER(PWR + 0x14) /* 6.4.6 */
#define PWR_SR2_VOSF (1u << 10)
#define PWR_CR5 REGISTER(PWR + 0x80) /* 6.4.22 */
#define PWR_CR5_R1MODE (1u << 8)

/* Flash interface, RM 3.7 */
#define FLASH_ACR REGISTER(FLASH + 0x00) /* 3.7.1 */
#define FLASH_ACR_LATENCY_Msk 15u
#define FLASH_ACR_PRFTEN (1u << 8)
#define FLASH_ACR_ICEN (1u << 9)
#define FLASH_ACR_DCEN (1u << 10)
/* From reset on: without it a debugger reads nothing. */
#define FLASH_ACR_DBG_SWEN (1u << 18)

/* MCU debug component, RM 47.16 */
#define DBGMCU_CR REGISTER(0xE0042004)
#define DBGMCU_CR_DBG_SLEEP (1u << 0)

/* General-purpose I/O */
/* RM 9.4.3: the second highest of four speeds; the highest rings on a clip. */
enum { PIN_SPEED_FAST = 2 };

/* The clocks of what the bench uses, by role. */
static inline void enable_ports(uint32_t bits) {
    turn_on(&RCC_AHB2ENR, bits);
}

static inline void enable_timers(uint32_t bits) {
    turn_on(&RCC_APB1ENR1, bits);
}

static inline void clock_bus_in_sleep(void) {
    DBGMCU_CR |= DBGMCU_CR_DBG_SLEEP;
}

static inline void enable_serial(uint32_t bits) {
    turn_on(&RCC_APB1ENR1, bits);
}

/* RM 7.2: the core starts on the HSI16. */
enum { HSI_HZ = 16000000, CORE_HZ_AT_RESET = HSI_HZ };

#endif
#endif
