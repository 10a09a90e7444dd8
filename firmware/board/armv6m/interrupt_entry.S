/*
 * The first instructions of an interrupt raise its pin, before anything is saved: the core has
 * stacked r0-r3 already. Then they read the counter of the timer that gave the stimulus. It goes to
 * the handler in C as its argument, by a tail call, so lr still holds EXC_RETURN.
 *
 * The value that is stored is the address that it is stored by: its low bits are the pin's. No other
 * interrupt is as urgent, and the code is fetched from the same place each time, so between store
 * and read are the same few cycles at every call.
 */
#include "board/marker_function.inc"
#include "board/pins.h"

    .syntax unified
    .thumb

    /* The low byte of the address is the pin's bit, and is stored to BSRR's second byte. The byte
     * sets pins 8 to 15 (RM0091, section 8.4: the registers can be written by bytes). */
    .equ    ISR_BIT, 1 << (ISR_PIN - 8)
    .equ    ISR_BASE, ISR_PORT + ISR_BIT

    marker_function STIMULUS_HANDLER
    ldr     r1, .Lisr_base
    strb    r1, [r1, #(GPIO_BSRR_OFFSET + 1 - ISR_BIT)]
    ldr     r0, .Lstimulus_timer
    ldr     r0, [r0, #TIM_CNT_OFFSET]
    ldr     r1, .Lhandler
    bx      r1
    .balign 4
.Lisr_base:
    .word   ISR_BASE
.Lstimulus_timer:
    .word   STIMULUS_TIMER
.Lhandler:
    .word   stimulus_interrupt
    .size   STIMULUS_HANDLER, . - STIMULUS_HANDLER
