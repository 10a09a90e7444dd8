/**
 * The registers of an STM32F4 that the firmware uses, and no others. "RM" is ST's RM0368, whose
 * sections these are; F411 (RM0383) and F446 (RM0390) have the same. "PM"
 * is ST's PM0214 (Cortex-M4), "ARM" is the ARMv7-M Architecture Reference Manual. Base addresses
 * (RM 2.3) are usable in assembly.
 */
#ifndef TAILSCOPE_BOARD_STM32F4_REGISTERS_H
#define TAILSCOPE_BOARD_STM32F4_REGISTERS_H

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

#define GPIO_BSRR_OFFSET 0x18         /* RM 8.4.7: bits 0-15 set, bits 16-31 reset */
#define TIM_CNT_OFFSET 0x24           /* RM 13.4.10 */
#define DWT_CYCCNT_ADDRESS 0xE0001004 /* ARM C1.8.8 */

#ifndef __ASSEMBLER__

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

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
#define RCC_AHB1ENR_GPIOA (1u << 0)
#define RCC_AHB1ENR_GPIOB (1u << 1)
#define RCC_APB1ENR REGISTER(RCC + 0x40) /* 6.3.11 */
#define RCC_ENABLE_TIM2 (1u << 0)
#define RCC_ENABLE_TIM3 (1u << 1)
#define RCC_ENABLE_TIM4 (1u << 2)
#define RCC_ENABLE_TIM5 (1u << 3)
#define RCC_ENABLE_USART2 (1u << 17)
#define RCC_ENABLE_USART3 (1u << 18)
#define RCC_APB1ENR_PWR (1u << 28)
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

/* General-purpose I/O, RM 8.4 */
#define GPIO_MODER(port) REGISTER((port) + 0x00)   /* 8.4.1 */
#define GPIO_OSPEEDR(port) REGISTER((port) + 0x08) /* 8.4.3 */
#define GPIO_PUPDR(port) REGISTER((port) + 0x0C)   /* 8.4.4 */
#define GPIO_ODR(port) REGISTER((port) + 0x14)     /* 8.4.6 */
#define GPIO_BSRR(port) REGISTER((port) + GPIO_BSRR_OFFSET)
#define GPIO_AFR(port, half) REGISTER((port) + 0x20 + 4 * (half)) /* 8.4.9, 8.4.10 */

/* General-purpose timers TIM2 to TIM5, RM 13.4 */
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

/* Universal synchronous asynchronous receiver transmitter, RM 19.6 */
#define USART_SR(usart) REGISTER((usart) + 0x00) /* 19.6.1 */
#define USART_SR_TC (1u << 6)
#define USART_SR_TXE (1u << 7)
#define USART_DR(usart) REGISTER((usart) + 0x04)  /* 19.6.2 */
#define USART_BRR(usart) REGISTER((usart) + 0x08) /* 19.6.3 */
#define USART_CR1(usart) REGISTER((usart) + 0x0C) /* 19.6.4 */
#define USART_CR1_TE (1u << 3)
#define USART_CR1_UE (1u << 13)

/* Interrupt numbers, RM 10.1.3: for programs that take the board as it is. The bench has those of
 * the board's table. */
#define IRQ_TIM2 28u
#define IRQ_TIM5 50u

/* Nested vectored interrupt controller, PM 4.3 */
#define NVIC_ISER(word) REGISTER(0xE000E100 + 4 * (word))                    /* 4.3.2 */
#define NVIC_ICER(word) REGISTER(0xE000E180 + 4 * (word))                    /* 4.3.3 */
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

/* MCU debug component, RM 23.16.3 */
#define DBGMCU_CR REGISTER(0xE0042004)
#define DBGMCU_CR_DBG_SLEEP (1u << 0)

/* Debug: cycle counter, ARM C1.6.5 and C1.8 */
#define DEMCR REGISTER(0xE000EDFC)
#define DEMCR_TRCENA (1u << 24)
#define DWT_CTRL REGISTER(0xE0001000)
#define DWT_CTRL_CYCCNTENA (1u << 0)
#define DWT_CYCCNT REGISTER(DWT_CYCCNT_ADDRESS)

#endif
#endif
