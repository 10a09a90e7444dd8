/** What an STM32F1 has otherwise than others. "RM" is ST's RM0008. */
#pragma once

/* Base addresses, RM 3.3 */
#define AFIO 0x40010000
#define GPIOA 0x40010800
#define GPIOB 0x40010C00

/* RM 9.1: the ports' registers are accessed by words, not by half-words or bytes. */
#define GPIO_ONLY_WORDS
#define GPIO_BSRR_OFFSET 0x10 /* RM 9.2.5: bits 0-15 set, bits 16-31 reset */

/* Reset and clock control, RM 7.3 */
#define RCC_CFGR_OFFSET 0x04 /* 7.3.2 */
#define RCC_CFGR_SW_PLL (2u << 0)
#define RCC_CFGR_PPRE1_Pos 8u
#define RCC_CFGR_PPRE2_Pos 11u
#define PLL_SOURCE_HSE (1u << 16)
#define RCC_CFGR_PLLMUL_Pos 18u
#define RCC_CFGR_PLLMUL_Msk (0xFu << RCC_CFGR_PLLMUL_Pos)
#define RCC_PORTS_OFFSET 0x18 /* APB2ENR, 7.3.7 */
#define RCC_ENABLE_AFIO (1u << 0)
#define RCC_ENABLE_GPIOA (1u << 2)
#define RCC_ENABLE_GPIOB (1u << 3)
#define RCC_APB1_OFFSET 0x1C /* APB1ENR, 7.3.8 */
#define RCC_CSR_OFFSET 0x24  /* 7.3.10 */
#define RCC_CSR_RMVF (1u << 24)
#define RCC_CSR_CAUSES (0x3Fu << 26)

/* Flash interface, PM0075, section 3.1. PRFTBS only says that the prefetch buffer is on. */
#define FLASH_ACCELERATOR FLASH_ACR_PRFTBE
#define FLASH_ACR_TOLD (~FLASH_ACR_PRFTBS)
#define USART_HAS_ONE_REGISTER

/* RM 7.2: the core starts on the HSI. */
#define HSI_HZ 8000000

#include "board/stm32.h"

#ifndef __ASSEMBLER__

/* General-purpose I/O, RM 9.2 */
#define GPIO_CR(port, half) REGISTER((port) + 4 * (half)) /* 9.2.1, 9.2.2: four bits a pin */
#define GPIO_ODR(port) REGISTER((port) + 0x0C)            /* 9.2.4 */

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

/* Without JTAG its reset, NJTRST, leaves PB4 (RM 9.3.5). */
static inline void enable_ports(uint32_t bits) {
    turn_on(&RCC_PORTS, bits | RCC_ENABLE_AFIO);
    AFIO_MAPR = AFIO_MAPR_SWJ_WITHOUT_JTAG;
}

#endif
