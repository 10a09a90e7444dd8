/**
 * The registers that every STM32 of the bench has alike, and no others that the firmware does not
 * use. A family's registers.h says what differs, and includes this at its end. "RM" is ST's RM0368
 * (STM32F4), "PM" its PM0214 (Cortex-M4), "ARM" the ARMv7-M Architecture Reference Manual.
 * Addresses are usable in assembly.
 */
#pragma once

/* Where most lines have them. */
#ifndef RCC
#define RCC 0x40021000
#define FLASH 0x40022000
#endif
#ifndef GPIOA
#define GPIOA 0x48000000
#define GPIOB 0x48000400
#endif

#define TIM2 0x40000000
#define TIM3 0x40000400
#define TIM4 0x40000800
#define TIM5 0x40000C00
#define USART2 0x40004400
#define USART3 0x40004800
#define PWR 0x40007000

/* What the core starts on. */
#ifndef CORE_HZ_AT_RESET
#define CORE_HZ_AT_RESET HSI_HZ
#endif

#define DWT_CYCCNT_ADDRESS 0xE0001004 /* ARM C1.8.8 */
#define TIM_CNT_OFFSET 0x24           /* RM 13.4.10 */
#ifndef GPIO_BSRR_OFFSET
#define GPIO_BSRR_OFFSET 0x18 /* RM 8.4.7: bits 0-15 set, bits 16-31 reset */
#endif

#ifndef __ASSEMBLER__

#include <stdint.h>

/** A register by its address. */
#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

/* Nested vectored interrupt controller, PM 4.3 */
#define NVIC_ISER(word) REGISTER(0xE000E100 + 4 * (word))                    /* 4.3.2 */
#define NVIC_ICER(word) REGISTER(0xE000E180 + 4 * (word))                    /* 4.3.3 */
#define NVIC_ISPR(word) REGISTER(0xE000E200 + 4 * (word))                    /* 4.3.4 */
#define NVIC_IPR(irq) (*(volatile uint8_t *)(uintptr_t)(0xE000E400 + (irq))) /* 4.3.7 */

/* System control block and SysTick, PM 4.4 to 4.6 */
#define SCB_ICSR REGISTER(0xE000ED04) /* 4.4.3 */
#define SCB_ICSR_PENDSTCLR (1u << 25)
#define SCB_ICSR_PENDSVCLR (1u << 27)
#define SCB_VTOR REGISTER(0xE000ED08)  /* 4.4.4 */
#define SCB_CPACR REGISTER(0xE000ED88) /* 4.6.1 */
#define SCB_CPACR_FPU (0xFu << 20)
#define SYSTICK_CTRL REGISTER(0xE000E010) /* 4.5.1 */
#define SYSTICK_LOAD REGISTER(0xE000E014) /* 4.5.2 */
#define SYSTICK_VAL REGISTER(0xE000E018)  /* 4.5.3 */

/* Debug: who has the core, ARM C1.6.2; cycle counter, C1.6.5 and C1.8 */
#define DHCSR REGISTER(0xE000EDF0)
#define DHCSR_C_DEBUGEN (1u << 0)
#define DEMCR REGISTER(0xE000EDFC)
#define DEMCR_TRCENA (1u << 24)
#define DWT_CTRL REGISTER(0xE0001000)
#define DWT_CTRL_CYCCNTENA (1u << 0)

/* Reset and clock control, RM 6.3 */
#define RCC_CR REGISTER(RCC + 0x00) /* 6.3.1 */
#define RCC_CR_HSEON (1u << 16)
#define RCC_CR_HSERDY (1u << 17)
#define RCC_CR_HSEBYP (1u << 18)
#define RCC_CR_PLLON (1u << 24)
#define RCC_CR_PLLRDY (1u << 25)
#define RCC_CFGR REGISTER(RCC + RCC_CFGR_OFFSET) /* 6.3.3 */
#ifndef RCC_CFGR_SWS_Pos
#define RCC_CFGR_SWS_Pos 2
#define RCC_CFGR_SWS_Msk (3u << 2)
#endif
#define RCC_CFGR_SWS_PLL (RCC_CFGR_SW_PLL << RCC_CFGR_SWS_Pos)
#define RCC_PORTS REGISTER(RCC + RCC_PORTS_OFFSET) /* 6.3.9 */
#ifndef RCC_ENABLE_GPIOA
#define RCC_ENABLE_GPIOA (1u << 0)
#define RCC_ENABLE_GPIOB (1u << 1)
#endif
#define RCC_APB1 REGISTER(RCC + RCC_APB1_OFFSET) /* 6.3.11 */
#define RCC_ENABLE_TIM2 (1u << 0)
#define RCC_ENABLE_TIM3 (1u << 1)
#define RCC_ENABLE_TIM4 (1u << 2)
#define RCC_ENABLE_TIM5 (1u << 3)
#define RCC_ENABLE_USART2 (1u << 17)
#define RCC_ENABLE_USART3 (1u << 18)
#define RCC_ENABLE_PWR (1u << 28)
#define RCC_CSR REGISTER(RCC + RCC_CSR_OFFSET) /* 6.3.18 */
#ifndef RCC_CSR_CAUSES
#define RCC_CSR_CAUSES (0x7Fu << 25)
#endif

/* Flash interface, RM 3.8 */
#define FLASH_ACR REGISTER(FLASH + 0x00) /* 3.8.1 */
#ifndef FLASH_ACR_LATENCY_Msk
#define FLASH_ACR_LATENCY_Msk 7u
#endif
#define FLASH_ACR_PRFTBE (1u << 4) /* of an STM32F0 and F1: RM0091, 3.5.1 */
#define FLASH_ACR_PRFTBS (1u << 5)
#define FLASH_ACR_PRFTEN (1u << 8)
#define FLASH_ACR_ICEN (1u << 9)
#define FLASH_ACR_DCEN (1u << 10)
/* Of an STM32G0 and G4, from reset on: without it a debugger reads nothing (RM0444, 3.7.1). */
#define FLASH_ACR_DBG_SWEN (1u << 18)
#ifndef FLASH_ACR_ALWAYS
#define FLASH_ACR_ALWAYS 0u
#endif
#ifndef FLASH_ACR_TOLD
#define FLASH_ACR_TOLD UINT32_MAX
#endif

/* General-purpose timers, RM 13.4 */
#define TIM_CR1(timer) REGISTER((timer) + 0x00) /* 13.4.1 */
#define TIM_CR1_CEN (1u << 0)
#define TIM_CR1_ARPE (1u << 7)
#define TIM_DIER(timer) REGISTER((timer) + 0x0C) /* 13.4.4 */
#define TIM_DIER_UIE (1u << 0)
#define TIM_SR(timer) REGISTER((timer) + 0x10) /* 13.4.5 */
#define TIM_SR_UIF (1u << 0)
#define TIM_EGR(timer) REGISTER((timer) + 0x14) /* 13.4.6 */
#define TIM_EGR_UG (1u << 0)
#define TIM_CCMR1(timer) REGISTER((timer) + 0x18) /* 13.4.7 */
#define TIM_OCM_TOGGLE 3u
#define TIM_OCM_FORCE_INACTIVE 4u
#define TIM_OCM_PWM2 7u
#define TIM_CCER(timer) REGISTER((timer) + 0x20)                         /* 13.4.9 */
#define TIM_CNT(timer) REGISTER((timer) + TIM_CNT_OFFSET)                /* 13.4.10 */
#define TIM_PSC(timer) REGISTER((timer) + 0x28)                          /* 13.4.11 */
#define TIM_ARR(timer) REGISTER((timer) + 0x2C)                          /* 13.4.12 */
#define TIM_CCR(timer, channel) REGISTER((timer) + 0x30 + 4 * (channel)) /* 13.4.13, 13.4.14 */

/* The serial line's transmitter. The STM32F4 and F1 take and give bytes by one register (RM 19.6);
 * the others have two, at other places (RM0351, 40.8). */
#ifdef USART_HAS_ONE_REGISTER
#define USART_STATUS(usart) REGISTER((usart) + 0x00)   /* SR, RM 19.6.1 */
#define USART_TRANSMIT(usart) REGISTER((usart) + 0x04) /* DR, 19.6.2 */
#define USART_BRR(usart) REGISTER((usart) + 0x08)      /* 19.6.3 */
#define USART_CR1(usart) REGISTER((usart) + 0x0C)      /* 19.6.4 */
#define USART_CR1_UE (1u << 13)
#else
#define USART_CR1(usart) REGISTER((usart) + 0x00)      /* RM0351, 40.8.1 */
#define USART_BRR(usart) REGISTER((usart) + 0x0C)      /* 40.8.4 */
#define USART_STATUS(usart) REGISTER((usart) + 0x1C)   /* ISR, 40.8.8 */
#define USART_TRANSMIT(usart) REGISTER((usart) + 0x28) /* TDR, 40.8.11 */
#define USART_CR1_UE (1u << 0)
#endif
#define USART_CR1_TE (1u << 3)
#define USART_STATUS_TC (1u << 6)
#define USART_STATUS_TXE (1u << 7)

/** Turns clocks of peripherals on. They run two cycles later, so the register is read back. */
static inline void turn_on(volatile uint32_t *enables, uint32_t bits) {
    *enables |= bits;
    (void)*enables; /* errata ES0299, section on RCC */
}

/* The clocks of what the bench uses, by role. */
static inline void enable_timers(uint32_t bits) {
    turn_on(&RCC_APB1, bits);
}

static inline void enable_serial(uint32_t bits) {
    turn_on(&RCC_APB1, bits);
}

/** Without this the bus of an ARMv7-M line stands while the core sleeps (RM 23.16.3); that of an
 * STM32F0 and G0 is clocked anyway (RM0091, 32.9.1; RM0444, 40.9). */
static inline void clock_bus_in_sleep(void) {
#if __ARM_ARCH >= 7
    REGISTER(0xE0042004) |= 1u << 0; /* DBG_SLEEP of DBGMCU_CR */
#endif
}

/* General-purpose I/O: two or four bits a pin for each property, but on an STM32F1. */
#define GPIO_BSRR(port) REGISTER((port) + GPIO_BSRR_OFFSET)
#ifndef GPIO_ONLY_WORDS
#define GPIO_MODER(port) REGISTER((port) + 0x00)                  /* RM 8.4.1 */
#define GPIO_OSPEEDR(port) REGISTER((port) + 0x08)                /* 8.4.3 */
#define GPIO_PUPDR(port) REGISTER((port) + 0x0C)                  /* 8.4.4 */
#define GPIO_ODR(port) REGISTER((port) + 0x14)                    /* 8.4.6 */
#define GPIO_AFR(port, half) REGISTER((port) + 0x20 + 4 * (half)) /* 8.4.9, 8.4.10 */

/* RM 8.4.3: the second highest of four speeds; the highest rings on a clip. */
#ifndef PIN_SPEED_FAST
#define PIN_SPEED_FAST 2
#endif

static inline void enable_ports(uint32_t bits) {
    turn_on(&RCC_PORTS, bits);
}

static inline void pin_write_field(volatile uint32_t *target, uint32_t pin, uint32_t value) {
    *target = (*target & ~(3u << 2u * pin)) | value << 2u * pin;
}

/** Makes a pin an input that only its own resistor holds high. */
#define PIN_PULL_UP(port, pin) \
    do { \
        pin_write_field(&GPIO_PUPDR(port), (pin), 1); \
        pin_write_field(&GPIO_MODER(port), (pin), 0); \
    } while (0)
#endif

#endif
