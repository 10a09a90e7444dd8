/*
 * The first instructions of an interrupt raise its pin, before anything is saved: the core has
 * stacked r0-r3 already. The handler in C follows by a tail call, so lr still holds EXC_RETURN.
 */
#include "board/marker_function.inc"
#include "board/pins.h"

    .syntax unified
    .thumb

    .macro interrupt_entry name, port, pin, handler
    marker_function \name
    movw    r0, #:lower16:(\port + GPIO_BSRR_OFFSET)
    movt    r0, #:upper16:(\port + GPIO_BSRR_OFFSET)
    mov.w   r1, #(1 << \pin)
    str     r1, [r0]
    b.w     \handler
    .size   \name, . - \name
    .endm

    interrupt_entry TIM2_IRQHandler, ISR_PORT, ISR_PIN, stimulus_interrupt
    interrupt_entry TIM5_IRQHandler, CISR_PORT, CISR_PIN, control_interrupt
