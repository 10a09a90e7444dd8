/**
 * General-purpose timers, alike on all STM32. "RM" is ST's RM0368. The counter's place is usable in
 * assembly.
 */
#ifndef TAILSCOPE_BOARD_REGISTERS_TIMER_H
#define TAILSCOPE_BOARD_REGISTERS_TIMER_H

#include "board/registers/register.h"

#define TIM_CNT_OFFSET 0x24 /* RM 13.4.10 */

#ifndef __ASSEMBLER__

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

#endif
#endif
