/*
 * The first instructions of an interrupt raise its pin, before anything is saved: the core has
 * stacked r0-r3 already. Then they read the counter of the timer that gave the stimulus. It goes to
 * the handler in C as its argument, by a tail call, so lr still holds EXC_RETURN.
 *
 * Store and read lie in the same 8 bytes, so in one line of every flash: an STM32F4's has 16 bytes,
 * an STM32L4's 8. So nothing can fall between them but the same few cycles at every call, and a more
 * urgent interrupt. The two instructions before them fit into 8 bytes only because the value that
 * is stored is the address that it is stored by: its low bits are the pin's.
 */
#include "board/marker_function.inc"
#include "board/pins.h"

    .syntax unified
    .thumb

    .macro load_address address
    movw    r1, #:lower16:(\address)
    movt    r1, #:upper16:(\address)
    .endm

    .macro hand_over name, handler
    b.w     \handler
    .size   \name, . - \name
    .endm

    /* The low byte of the address is the pin's bit, and is stored to BSRR's second byte. The byte
     * sets pins 8 to 15 (RM 8.4: the registers can be written by bytes). */
    .equ    ISR_BIT, 1 << (ISR_PIN - 8)
    .equ    ISR_BASE, ISR_PORT + ISR_BIT

    marker_function STIMULUS_HANDLER
    load_address ISR_BASE
    strb.n  r1, [r1, #(GPIO_BSRR_OFFSET + 1 - ISR_BIT)]
    mov.w   r0, #STIMULUS_TIMER
    ldr.n   r0, [r0, #TIM_CNT_OFFSET]
    hand_over STIMULUS_HANDLER, stimulus_interrupt

    /* The low half of the address is stored to BSRR's low half, which sets pins 0 to 15. Its bits
     * are those of CISR and of PB6 to PB9. These are inputs, whose output bit moves nothing. */
    .equ    CISR_BITS, 0x3E0
    .equ    CISR_BASE, CISR_PORT - 0x400 + CISR_BITS
    .equ    TIMER_BASE, CONTROL_TIMER - 0x20
    .if CISR_PIN != 5 || (CISR_BASE & 0xFFFF) != CISR_BITS
    .error "the control interrupt's address does not hold its pin's bit"
    .endif

    /* One instruction leads from the pin's address to one near the timer's: what lies between them
     * can be subtracted, or what tells them apart can be flipped, as a constant of Thumb-2. */
    .macro reach_timer
    .if CISR_BASE - TIMER_BASE == 0x1F800
    sub.w   r0, r1, #(CISR_BASE - TIMER_BASE)
    .else
    eor.w   r0, r1, #(CISR_BASE ^ TIMER_BASE)
    .endif
    .endm

    marker_function CONTROL_HANDLER
    load_address CISR_BASE
    strh.n  r1, [r1, #(CISR_PORT + GPIO_BSRR_OFFSET - CISR_BASE)]
    reach_timer
    ldr.n   r0, [r0, #(CONTROL_TIMER + TIM_CNT_OFFSET - TIMER_BASE)]
    hand_over CONTROL_HANDLER, control_interrupt
