/**
 * The registers of an STM32F07x that the firmware uses, and no others. "RM" is ST's RM0091, whose
 * sections these are. Base addresses (RM 2.2) are usable in assembly.
 */
#ifndef TAILSCOPE_BOARD_STM32F0_REGISTERS_H
#define TAILSCOPE_BOARD_STM32F0_REGISTERS_H

#include "board/registers/cortex_m.h"
#include "board/registers/gpio.h"
#include "board/registers/timer.h"
#include "board/registers/usart_v2.h"

#define TIM2 0x40000000
#define TIM3 0x40000400
#define USART2 0x40004400
#define RCC 0x40021000
#define FLASH 0x40022000
#define GPIOA 0x48000000
#define GPIOB 0x48000400

#ifndef __ASSEMBLER__

/* Reset and clock control, RM 6.4 */
#define RCC_CR REGISTER(RCC + 0x00) /* 6.4.1 */
#define RCC_CR_HSEON (1u << 16)
#define RCC_CR_HSERDY (1u << 17)
#define RCC_CR_HSEBYP (1u << 18)
#define RCC_CR_PLLON (1u << 24)
#define RCC_CR_PLLRDY (1u << 25)
#define RCC_CFGR REGISTER(RCC + 0x04) /* 6.4.2 */
#define RCC_CFGR_SW_PLL (2u << 0)
#define RCC_CFGR_SWS_Msk (3u << 2)
#define RCC_CFGR_SWS_PLL (2u << 2)
#define RCC_CFGR_PPRE_Pos 8u
#define RCC_CFGR_PLLSRC_Msk (3u << 15)
#define RCC_CFGR_PLLSRC_HSI (1u << 15)
#define RCC_CFGR_PLLSRC_HSE (2u << 15)
#define RCC_CFGR_PLLMUL_Pos 18u
#define RCC_AHBENR REGISTER(RCC + 0x14) /* 6.4.6 */
#define RCC_ENABLE_GPIOA (1u << 17)
#define RCC_ENABLE_GPIOB (1u << 18)
#define RCC_APB1ENR REGISTER(RCC + 0x1C) /* 6.4.8 */
#define RCC_ENABLE_TIM2 (1u << 0)
#define RCC_ENABLE_TIM3 (1u << 1)
#define RCC_ENABLE_USART2 (1u << 17)
#define RCC_CSR REGISTER(RCC + 0x24) /* 6.4.10 */
#define RCC_CSR_RMVF (1u << 24)
#define RCC_CSR_CAUSES (0x7Fu << 25)
#define RCC_CFGR2 REGISTER(RCC + 0x2C) /* 6.4.12 */

/* Flash interface, RM 3.5 */
#define FLASH_ACR REGISTER(FLASH + 0x00) /* 3.5.1 */
#define FLASH_ACR_LATENCY_Msk 7u
#define FLASH_ACR_PRFTBE (1u << 4)
#define FLASH_ACR_PRFTBS (1u << 5)

/* General-purpose I/O */
/* RM 8.4.3: 0 and 2 are the lowest of three speeds, 1 the middle, 3 the highest. */
enum { PIN_SPEED_FAST = 3 };

/* The clocks of what the bench uses, by role. */
static inline void enable_ports(uint32_t bits) {
    turn_on(&RCC_AHBENR, bits);
}

static inline void enable_timers(uint32_t bits) {
    turn_on(&RCC_APB1ENR, bits);
}

static inline void enable_serial(uint32_t bits) {
    turn_on(&RCC_APB1ENR, bits);
}

/* While the core sleeps its bus is clocked anyway (RM 32.9.1). */
static inline void clock_bus_in_sleep(void) {
}

/* RM 6.2: the core starts on the HSI. */
enum { HSI_HZ = 8000000, CORE_HZ_AT_RESET = HSI_HZ };

#endif
#endif
