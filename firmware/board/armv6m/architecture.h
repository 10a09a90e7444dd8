/**
 * What the shared C of the board must know of an ARMv6-M core: it has no VTOR, no DWT, and writes
 * its NVIC by words only. "PM" is ST's PM0215 (Cortex-M0), "ARM" the ARMv6-M Architecture Reference
 * Manual.
 */
#pragma once

#include "board_table.h"
#include "registers.h"

/** A timer of 32 bits that counts the core's clock, for assembly too. */
#define CYCLE_COUNTER_ADDRESS (COUNTER_TIMER + TIM_CNT_OFFSET)
/** What FAIL says if it does not count. */
#define CYCLE_COUNTER_FAULT "counter"

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

#define KERNEL_SVC_HANDLER SVC_Handler
#define KERNEL_PENDSV_HANDLER PendSV_Handler
#define KERNEL_SYSTICK_HANDLER SysTick_Handler

/** The vectors are read at 0, where the flash is seen too (RM0091, section 2.5). */
static inline void core_start(const void *vector_table) {
    (void)vector_table;
}

/* clang-format off */
/** Calls fault() with the frame that the core stacked. Bit 2 of EXC_RETURN says on which stack
 * (PM 2.3.7). */
#define PASS_FRAME_TO_FAULT \
    "movs  r0, #4\n\t"      \
    "mov   r1, lr\n\t"      \
    "tst   r0, r1\n\t"      \
    "mrs   r0, msp\n\t"     \
    "beq   0f\n\t"          \
    "mrs   r0, psp\n"       \
    "0:\n\t"                \
    "bl    fault"
/* clang-format on */

/** A register for four interrupts (PM 4.2.6). No other context writes it meanwhile. */
static inline void interrupt_set_priority(uint32_t irq, uint8_t priority) {
    const uint32_t shift = irq % 4u * 8u;
    volatile uint32_t *const priorities = &NVIC_IPR(irq / 4u);
    *priorities = (*priorities & ~(0xFFu << shift)) | (uint32_t)priority << shift;
}

/** A program cannot tell (ARM C1.6.3), and need not: no debugger stops a timer. */
static inline bool debugger_is_attached(void) {
    return false;
}

static inline bool cycle_counter_counts(void) {
    return (TIM_CR1(COUNTER_TIMER) & TIM_CR1_CEN) != 0u;
}

/** Its period and its prescaler are those of a reset: 2^32 and none. */
static inline void cycle_counter_arm(void) {
    enable_timers(COUNTER_CLOCK);
    TIM_CR1(COUNTER_TIMER) = TIM_CR1_CEN;
}

#endif
