/*
 * The first instructions of an interrupt, as firmware/board/interrupt_entry.S has them, for ports
 * that are written by words (RM0008, section 9.1). The pin's bit has a register of its own, so ISR
 * and CISR may be any pin.
 *
 * Everything is loaded first. Store and read begin the third line of 8 bytes of the flash (PM0075),
 * so nothing can fall between them but the same few cycles at every call, and a more urgent
 * interrupt.
 */
#include "board/marker_function.inc"
#include "board/pins.h"

    .syntax unified
    .thumb

    /* The timers begin where a constant of Thumb-2 reaches; the offset does the rest. */
    .equ    TIMERS, 0x40000000

    .macro interrupt_entry name, handler, port, pin, timer
    marker_function \name
    movw    r1, #:lower16:\port
    movt    r1, #:upper16:\port
    mov.w   r2, #(1 << \pin)
    mov.w   r0, #TIMERS
    /* the third line begins here */
    str.n   r2, [r1, #GPIO_BSRR_OFFSET]
    ldr.w   r0, [r0, #(\timer + TIM_CNT_OFFSET - TIMERS)]
    b.w     \handler
    .size   \name, . - \name
    .endm

    interrupt_entry STIMULUS_HANDLER, stimulus_interrupt, ISR_PORT, ISR_PIN, STIMULUS_TIMER
    interrupt_entry CONTROL_HANDLER, control_interrupt, CISR_PORT, CISR_PIN, CONTROL_TIMER
