/**
 * What the shared C of the board must know of an ARMv7-M core: what a reset has to set, how a fault
 * finds its frame, what FreeRTOS's port calls its handlers, what counts its cycles. "PM" is ST's
 * PM0214, "ARM" the ARMv7-M Architecture Reference Manual.
 */
#pragma once

#include "registers.h"

/** DWT's counter of core cycles, for assembly too. */
#define CYCLE_COUNTER_ADDRESS DWT_CYCCNT_ADDRESS
/** What FAIL says if it does not count. */
#define CYCLE_COUNTER_FAULT "dwt"

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

#define KERNEL_SVC_HANDLER vPortSVCHandler
#define KERNEL_PENDSV_HANDLER xPortPendSVHandler
#define KERNEL_SYSTICK_HANDLER xPortSysTickHandler

/** Before the first floating-point instruction (PM 4.6.6) and the first exception. */
static inline void core_start(const void *vector_table) {
    SCB_VTOR = (uint32_t)(uintptr_t)vector_table;
#ifdef __ARM_FP
    SCB_CPACR |= SCB_CPACR_FPU_Msk;
    __asm volatile("dsb\n\tisb");
#endif
}

/* clang-format off */
/** Branches to fault() with the frame that the core stacked. Bit 2 of EXC_RETURN says on which
 * stack (PM 2.3.7). */
#define PASS_FRAME_TO_FAULT \
    "tst   lr, #4\n\t"      \
    "ite   eq\n\t"          \
    "mrseq r0, msp\n\t"     \
    "mrsne r0, psp\n\t"     \
    "b     fault"
/* clang-format on */

/** A byte for each interrupt (PM 4.3.7). */
static inline void interrupt_set_priority(uint32_t irq, uint8_t priority) {
    ((volatile uint8_t *)&NVIC_IPR(0))[irq] = priority;
}

/** A program may read that bit of DHCSR (ARM C1.6.2). */
static inline bool debugger_is_attached(void) {
    return (CORE_DEBUG_DHCSR & CORE_DEBUG_DHCSR_C_DEBUGEN) != 0u;
}

/** DWT's registers say nothing while TRCENA is clear (ARM C1.6.5). */
static inline bool cycle_counter_counts(void) {
    return (CORE_DEBUG_DEMCR & CORE_DEBUG_DEMCR_TRCENA) != 0u &&
           (DWT_CTRL & DWT_CTRL_CYCCNTENA) != 0u;
}

static inline void cycle_counter_arm(void) {
    CORE_DEBUG_DEMCR |= CORE_DEBUG_DEMCR_TRCENA;
    DWT_CTRL |= DWT_CTRL_CYCCNTENA;
}

#endif
