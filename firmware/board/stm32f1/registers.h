/**
 * The registers of an STM32F1 that the firmware uses, and no others. "RM" is ST's RM0008. Base
 * addresses (RM 3.3) are usable in assembly.
 */
#ifndef TAILSCOPE_BOARD_STM32F1_REGISTERS_H
#define TAILSCOPE_BOARD_STM32F1_REGISTERS_H

#include "board/registers/cortex_m.h"
#include "board/registers/timer.h"
#include "board/registers/usart_v1.h"

#define TIM2 0x40000000
#define TIM3 0x40000400
#define TIM4 0x40000800
#define USART2 0x40004400
#define USART3 0x40004800
#define AFIO 0x40010000
#define GPIOA 0x40010800
#define GPIOB 0x40010C00
#define RCC 0x40021000
#define FLASH 0x40022000

/* RM 9.1: the ports' registers are accessed by words, not by half-words or bytes. */
#define GPIO_ONLY_WORDS
#define GPIO_BSRR_OFFSET 0x10 /* RM 9.2.5: bits 0-15 set, bits 16-31 reset */

#ifndef __ASSEMBLER__

/* Reset and clock control, RM 7.3 */
#define RCC_CR REGISTER(RCC + 0x00) /* 7.3.1 */
#define RCC_CR_HSEON (1u << 16)
#define RCC_CR_HSERDY (1u << 17)
#define RCC_CR_HSEBYP (1u << 18)
#define RCC_CR_PLLON (1u << 24)
#define RCC_CR_PLLRDY (1u << 25)
#define RCC_CFGR REGISTER(RCC + 0x04) /* 7.3.2 */
#define RCC_CFGR_SW_PLL (2u << 0)
#define RCC_CFGR_SWS_Msk (3u << 2)
#define RCC_CFGR_SWS_PLL (2u << 2)
#define RCC_CFGR_PPRE1_Pos 8u
#define RCC_CFGR_PPRE2_Pos 11u
#define RCC_CFGR_PLLSRC_HSE (1u << 16)
#define RCC_CFGR_PLLMUL_Pos 18u
#define RCC_CFGR_PLLMUL_Msk (0xFu << RCC_CFGR_PLLMUL_Pos)
#define RCC_APB2ENR REGISTER(RCC + 0x18) /* 7.3.7 */
#define RCC_ENABLE_AFIO (1u << 0)
#define RCC_ENABLE_GPIOA (1u << 2)
#define RCC_ENABLE_GPIOB (1u << 3)
#define RCC_APB1ENR REGISTER(RCC + 0x1C) /* 7.3.8 */
#define RCC_ENABLE_TIM2 (1u << 0)
#define RCC_ENABLE_TIM3 (1u << 1)
#define RCC_ENABLE_TIM4 (1u << 2)
#define RCC_ENABLE_USART2 (1u << 17)
#define RCC_ENABLE_USART3 (1u << 18)
#define RCC_CSR REGISTER(RCC + 0x24) /* 7.3.10 */
#define RCC_CSR_RMVF (1u << 24)
#define RCC_CSR_CAUSES (0x3Fu << 26)

/* Flash interface, PM0075, section 3.1 */
#define FLASH_ACR REGISTER(FLASH + 0x00)
#define FLASH_ACR_LATENCY_Msk 0x7u
#define FLASH_ACR_PRFTBE (1u << 4)
#define FLASH_ACR_PRFTBS (1u << 5)

/* General-purpose I/O, RM 9.2 */
#define GPIO_CR(port, half) REGISTER((port) + 4 * (half)) /* 9.2.1, 9.2.2: four bits a pin */
#define GPIO_ODR(port) REGISTER((port) + 0x0C)            /* 9.2.4 */
#define GPIO_BSRR(port) REGISTER((port) + GPIO_BSRR_OFFSET)

/** MODE and CNF of a pin (RM 9.1, table 20). */
enum { PIN_INPUT_PULLED = 8, PIN_OUTPUT_FAST = 3, PIN_ALTERNATE_FAST = 11 };

static inline void pin_configure(uint32_t port, uint32_t pin, uint32_t bits) {
    volatile uint32_t *const control = &GPIO_CR(port, pin / 8u);
    const uint32_t shift = 4u * (pin % 8u);
    *control = (*control & ~(0xFu << shift)) | bits << shift;
}

/** Makes a pin an input that only its own resistor holds high. ODR says to which side. */
#define PIN_PULL_UP(port, pin) \
    do { \
        GPIO_BSRR(port) = 1u << (pin); \
        pin_configure((port), (pin), PIN_INPUT_PULLED); \
    } while (0)

/* Alternate functions, RM 9.4 */
#define AFIO_MAPR REGISTER(AFIO + 0x04) /* 9.4.2 */
#define AFIO_MAPR_SWJ_WITHOUT_JTAG (2u << 24)

/* MCU debug component, RM 31.16.3 */
#define DBGMCU_CR REGISTER(0xE0042004)
#define DBGMCU_CR_DBG_SLEEP (1u << 0)

/* The clocks of what the bench uses, by role. */
/* Without JTAG its reset, NJTRST, leaves PB4 (RM 9.3.5). */
static inline void enable_ports(uint32_t bits) {
    turn_on(&RCC_APB2ENR, bits | RCC_ENABLE_AFIO);
    AFIO_MAPR = AFIO_MAPR_SWJ_WITHOUT_JTAG;
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

/* RM 7.2: the core starts on the HSI. */
enum { HSI_HZ = 8000000, CORE_HZ_AT_RESET = HSI_HZ };

#endif
#endif
