/**
 * What ARM's core brings, on a Cortex-M4. "PM" is ST's PM0214 (Cortex-M4), "ARM" is the ARMv7-M
 * Architecture Reference Manual. The cycle counter's address is usable in assembly.
 */
#ifndef TAILSCOPE_BOARD_REGISTERS_CORTEX_M_H
#define TAILSCOPE_BOARD_REGISTERS_CORTEX_M_H

#include "board/registers/register.h"

#define DWT_CYCCNT_ADDRESS 0xE0001004 /* ARM C1.8.8 */

#ifndef __ASSEMBLER__

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
#define DWT_CYCCNT REGISTER(DWT_CYCCNT_ADDRESS)

#endif
#endif
