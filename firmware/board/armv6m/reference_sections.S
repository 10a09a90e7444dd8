/* Only r0-r3 and r12 are used, and PRIMASK is restored (AAPCS). */
#include "architecture.h"
#include "board/marker_function.inc"
#include "board/pins.h"

    .syntax unified
    .thumb

    /* The counter's address in r2; a word of the flash begins behind this. */
    .macro counter_section name
    marker_function \name
    ldr     r2, .L\name\()_counter
    mrs     r12, primask
    cpsid   i
    .endm

    .macro section_end name
    msr     primask, r12
    bx      lr
    .balign 4
.L\name\()_counter:
    .word   CYCLE_COUNTER_ADDRESS
.L\name\()_port:
    .word   ISR_PORT
.L\name\()_timer:
    .word   STIMULUS_TIMER
    .size   \name, . - \name
    .endm

    counter_section counter_read_cycles
    ldr     r0, [r2]
    ldr     r1, [r2]
    subs    r0, r1, r0
    section_end counter_read_cycles

    /* The low byte of the port's address is 0, so the store moves no pin. */
    counter_section pin_raise_cycles
    ldr     r3, [r2]
    ldr     r0, .Lpin_raise_cycles_port
    strb    r0, [r0, #(GPIO_BSRR_OFFSET + 1)]
    ldr     r0, [r2]
    subs    r0, r0, r3
    section_end pin_raise_cycles

    marker_function timer_read_cycles
    ldr     r2, .Ltimer_read_cycles_counter
    ldr     r0, .Ltimer_read_cycles_port
    mrs     r12, primask
    cpsid   i
    /* What is measured lies in its words as in interrupt_entry.S: the store in a second half. */
    ldr     r3, [r2]
    nop
    strb    r0, [r0, #(GPIO_BSRR_OFFSET + 1)]
    ldr     r1, .Ltimer_read_cycles_timer
    ldr     r1, [r1, #TIM_CNT_OFFSET]
    ldr     r1, [r2]
    subs    r0, r1, r3
    section_end timer_read_cycles

    marker_function store_both
    mrs     r12, primask
    cpsid   i
    nop
    /* a word of the flash begins here */
    str     r1, [r0]
    str     r3, [r2]
    msr     primask, r12
    bx      lr
    .size   store_both, . - store_both
