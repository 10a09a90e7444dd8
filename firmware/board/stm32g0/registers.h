/**
 * The registers of an STM32G0 that the firmware uses, and no others. "RM" is ST's RM0444, whose
 * sections these are. Base addresses (RM 2.2) are usable in assembly.
 */
#ifndef TAILSCOPE_BOARD_STM32G0_REGISTERS_H
#define TAILSCOPE_BOARD_STM32G0_REGISTERS_H

#include "board/registers/cortex_m.h"
#include "board/registers/gpio.h"
#include "board/registers/timer.h"
#include "board/registers/usart_v2.h"

#define TIM2 0x40000000
#define TIM3 0x40000400
#define USART2 0x40004400
#define RCC 0x40021000
#define FLASH 0x40022000
#define GPIOA 0x50000000
#define GPIOB 0x50000400

#ifndef __ASSEMBLER__

/* Reset and clock control, RM 5.4 */
#define RCC_CR REGISTER(RCC + 0x00) /* 5.4.1 */
#define RCC_CR_HSEON (1u << 16)
#define RCC_CR_HSERDY (1u << 17)
#define RCC_CR_HSEBYP (1u << 18)
#define RCC_CR_PLLON (1u << 24)
#define RCC_CR_PLLRDY (1u << 25)
#define RCC_CFGR REGISTER(RCC + 0x08) /* 5.4.3 */
#define RCC_CFGR_SW_PLL (2u << 0)
#define RCC_CFGR_SWS_Msk (7u << 3)
#define RCC_CFGR_SWS_PLL (2u << 3)
#define RCC_CFGR_PPRE_Pos 12u
#define RCC_PLLCFGR REGISTER(RCC + 0x0C) /* 5.4.4 */
#define RCC_PLLCFGR_SRC_Msk (3u << 0)
#define RCC_PLLCFGR_SRC_HSI (2u << 0)
#define RCC_PLLCFGR_SRC_HSE (3u << 0)
#define RCC_PLLCFGR_M_Pos 4u
#define RCC_PLLCFGR_M_Msk 7u
#define RCC_PLLCFGR_N_Pos 8u
#define RCC_PLLCFGR_REN (1u << 28)
#define RCC_PLLCFGR_R_Pos 29u
#define RCC_PLLCFGR_R_Msk 7u
#define RCC_PLLCFGR_R_STEP 1u
#define RCC_IOPENR REGISTER(RCC + 0x34) /* 5.4.13 */
#define RCC_ENABLE_GPIOA (1u << 0)
#define RCC_ENABLE_GPIOB (1u << 1)
#define RCC_APBENR1 REGISTER(RCC + 0x3C) /* 5.4.15 */
#define RCC_ENABLE_TIM2 (1u << 0)
#define RCC_ENABLE_TIM3 (1u << 1)
#define RCC_ENABLE_USART2 (1u << 17)
#define RCC_CSR REGISTER(RCC + 0x60) /* 5.4.24 */
#define RCC_CSR_RMVF (1u << 23)
#define RCC_CSR_CAUSES (0x7Fu << 25)

/* Flash interface, RM 3.7 */
#define FLASH_ACR REGISTER(FLASH + 0x00) /* 3.7.1 */
#define FLASH_ACR_LATENCY_Msk 7u
#define FLASH_ACR_PRFTEN (1u << 8)
#define FLASH_ACR_ICEN (1u << 9)
/* From reset on: without it a debugger reads nothing. */
#define FLASH_ACR_DBG_SWEN (1u << 18)

/* General-purpose I/O */
/* RM 7.4.3: the second highest of four speeds; the highest rings on a clip. */
enum { PIN_SPEED_FAST = 2 };

/* The clocks of what the bench uses, by role. */
static inline void enable_ports(uint32_t bits) {
    turn_on(&RCC_IOPENR, bits);
}

static inline void enable_timers(uint32_t bits) {
    turn_on(&RCC_APBENR1, bits);
}

static inline void enable_serial(uint32_t bits) {
    turn_on(&RCC_APBENR1, bits);
}

/* While the core sleeps its bus is clocked anyway (RM 40.9). */
static inline void clock_bus_in_sleep(void) {
}

/* RM 5.2: the core starts on the HSI16. */
enum { HSI_HZ = 16000000, CORE_HZ_AT_RESET = HSI_HZ };

#endif
#endif
