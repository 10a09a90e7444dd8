/**
 * The registers of an STM32F4 that the firmware uses, and no others. "RM" is ST's RM0368, whose
 * sections these are; F411 (RM0383) and F446 (RM0390) have the same. Base addresses (RM 2.3) are
 * usable in assembly.
 */
#ifndef TAILSCOPE_BOARD_STM32F4_REGISTERS_H
#define TAILSCOPE_BOARD_STM32F4_REGISTERS_H

#include "board/registers/cortex_m.h"
#include "board/registers/gpio.h"
#include "board/registers/timer.h"
#include "board/registers/usart_v1.h"

#define TIM2 0x40000000
#define TIM3 0x40000400
#define TIM4 0x40000800
#define TIM5 0x40000C00
#define USART2 0x40004400
#define USART3 0x40004800
#define PWR 0x40007000
#define GPIOA 0x40020000
#define GPIOB 0x40020400
#define RCC 0x40023800
#define FLASH 0x40023C00

#ifndef __ASSEMBLER__

/* Reset and clock control, RM 6.3 */
#define RCC_CR REGISTER(RCC + 0x00) /* 6.3.1 */
#define RCC_CR_HSEON (1u << 16)
#define RCC_CR_HSERDY (1u << 17)
#define RCC_CR_HSEBYP (1u << 18)
#define RCC_CR_PLLON (1u << 24)
#define RCC_CR_PLLRDY (1u << 25)
#define RCC_PLLCFGR REGISTER(RCC + 0x04) /* 6.3.2 */
#define RCC_PLLCFGR_M_Pos 0u
#define RCC_PLLCFGR_N_Pos 6u
#define RCC_PLLCFGR_P_Pos 16u
#define RCC_PLLCFGR_SRC_HSE (1u << 22)
#define RCC_PLLCFGR_Q_Pos 24u
#define RCC_PLLCFGR_R_Pos 28u         /* RM0390, 6.3.2 */
#define RCC_CFGR REGISTER(RCC + 0x08) /* 6.3.3 */
#define RCC_CFGR_SW_PLL (2u << 0)
#define RCC_CFGR_SWS_Msk (3u << 2)
#define RCC_CFGR_SWS_PLL (2u << 2)
#define RCC_CFGR_PPRE1_Pos 10u
#define RCC_CFGR_PPRE2_Pos 13u
#define RCC_AHB1ENR REGISTER(RCC + 0x30) /* 6.3.9 */
#define RCC_ENABLE_GPIOA (1u << 0)
#define RCC_ENABLE_GPIOB (1u << 1)
#define RCC_APB1ENR REGISTER(RCC + 0x40) /* 6.3.11 */
#define RCC_ENABLE_TIM2 (1u << 0)
#define RCC_ENABLE_TIM3 (1u << 1)
#define RCC_ENABLE_TIM4 (1u << 2)
#define RCC_ENABLE_TIM5 (1u << 3)
#define RCC_ENABLE_USART2 (1u << 17)
#define RCC_ENABLE_USART3 (1u << 18)
#define RCC_ENABLE_PWR (1u << 28)
#define RCC_CSR REGISTER(RCC + 0x74) /* 6.3.18 */
#define RCC_CSR_RMVF (1u << 24)
#define RCC_CSR_CAUSES (0x7Fu << 25)
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

/* Flash interface, RM 3.8 */
#define FLASH_ACR REGISTER(FLASH + 0x00) /* 3.8.1 */
#define FLASH_ACR_LATENCY_Msk 0xFu
#define FLASH_ACR_PRFTEN (1u << 8)
#define FLASH_ACR_ICEN (1u << 9)
#define FLASH_ACR_DCEN (1u << 10)

/* Interrupt numbers, RM 10.1.3: for programs that take the board as it is. The bench has those of
 * the board's table. */
#define IRQ_TIM2 28u
#define IRQ_TIM5 50u

/* MCU debug component, RM 23.16.3 */
#define DBGMCU_CR REGISTER(0xE0042004)
#define DBGMCU_CR_DBG_SLEEP (1u << 0)

/* General-purpose I/O */
/* RM 8.4.3: the second highest of four speeds; the highest is for 100 MHz, and rings on a clip. */
enum { PIN_SPEED_FAST = 2 };

/* The clocks of what the bench uses, by role. */
static inline void enable_ports(uint32_t bits) {
    turn_on(&RCC_AHB1ENR, bits);
}

static inline void enable_timers(uint32_t bits) {
    turn_on(&RCC_APB1ENR, bits);
}

static inline void clock_bus_in_sleep(void) {
    DBGMCU_CR |= DBGMCU_CR_DBG_SLEEP;
}

static inline void enable_serial(uint32_t bits) {
    turn_on(&RCC_APB1ENR, bits);
}

/* RM 6.2: the core starts on the HSI. */
enum { HSI_HZ = 16000000, CORE_HZ_AT_RESET = HSI_HZ };

#endif
#endif
