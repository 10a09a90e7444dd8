/* Only r0-r3 and r12 are used, and PRIMASK is restored (AAPCS). */
#include "architecture.h"
#include "board/marker_function.inc"
#include "board/pins.h"

    .syntax unified
    .thumb

    /* CYCCNT's address in r2; the second flash line begins behind this. */
    .macro counter_section name
    marker_function \name
    movw    r2, #:lower16:CYCLE_COUNTER_ADDRESS
    movt    r2, #:upper16:CYCLE_COUNTER_ADDRESS
    mrs     r12, primask
    cpsid   i
    nop
    .endm

    .macro section_end name
    msr     primask, r12
    bx      lr
    .size   \name, . - \name
    .endm

    counter_section counter_read_cycles
    ldr     r0, [r2]
    ldr     r1, [r2]
    subs    r0, r1, r0
    section_end counter_read_cycles

    counter_section pin_raise_cycles
    ldr     r3, [r2]
    movw    r0, #:lower16:ISR_PORT
    movt    r0, #:upper16:ISR_PORT
#ifdef GPIO_ONLY_WORDS
    /* The low half of the stored word is 0, so it raises no pin. Its upper half lowers pin 14, which
     * is none of the bench's. */
    mov.w   r1, #STIMULUS_TIMER
    mov.w   r1, #STIMULUS_TIMER
    str     r1, [r0, #GPIO_BSRR_OFFSET]
#else
    /* The low byte of the port's address is 0, so the store moves no pin. */
    strb    r0, [r0, #(GPIO_BSRR_OFFSET + 1)]
#endif
    ldr     r0, [r2]
    subs    r0, r0, r3
    section_end pin_raise_cycles

    marker_function timer_read_cycles
    movw    r2, #:lower16:CYCLE_COUNTER_ADDRESS
    movt    r2, #:upper16:CYCLE_COUNTER_ADDRESS
    movw    r0, #:lower16:ISR_PORT
    movt    r0, #:upper16:ISR_PORT
    /* the second flash line begins here */
    mrs     r12, primask
    cpsid   i
    nop
    nop.w
    nop.w
#ifdef GPIO_ONLY_WORDS
    mov.w   r1, #STIMULUS_TIMER
    nop.w
    /* the fifth line of 8 bytes begins here, and holds the first read of CYCCNT, store and read */
    ldr     r3, [r2]
    str     r1, [r0, #GPIO_BSRR_OFFSET]
    ldr.w   r1, [r1, #TIM_CNT_OFFSET]
#else
    /* the third flash line begins here, and holds both reads of CYCCNT and what is between them */
    ldr     r3, [r2]
    strb    r0, [r0, #(GPIO_BSRR_OFFSET + 1)]
    mov.w   r1, #STIMULUS_TIMER
    ldr     r1, [r1, #TIM_CNT_OFFSET]
#endif
    ldr     r1, [r2]
    subs    r0, r1, r3
    section_end timer_read_cycles

    marker_function store_both
    mrs     r12, primask
    cpsid   i
    nop
    nop.w
    nop.w
    /* the second flash line begins here */
    str     r1, [r0]
    str     r3, [r2]
    section_end store_both
