/*
 * Markers: a pin write and a CYCCNT read as one pair. The pair is indivisible (PRIMASK holds off
 * even the control interrupt) and lies within the same 8 bytes, so in one line of every flash: an
 * STM32F4's has 16 bytes, an STM32L4's 8. So nothing can fall between the two but the same few
 * cycles at every call: the wire's pulse and the counter's difference differ by a constant, which
 * calibration measures. Only r0-r3 and r12 are used, PRIMASK is restored, and CYCCNT is returned in
 * r0 (AAPCS).
 */
#include "architecture.h"
#include "board/marker_function.inc"
#include "board/pins.h"

    .syntax unified
    .thumb

    .macro marker_prologue name, port, bit
    marker_function \name
    mov.w   r3, #(1 << (\bit))
    movw    r1, #:lower16:(\port + GPIO_BSRR_OFFSET)
    movt    r1, #:upper16:(\port + GPIO_BSRR_OFFSET)
    movw    r2, #:lower16:CYCLE_COUNTER_ADDRESS
    /* the second line of 16 bytes begins here */
    movt    r2, #:upper16:CYCLE_COUNTER_ADDRESS
    mrs     r12, primask
    /* and the fourth of 8 here */
    cpsid   i
    .endm

    .macro marker_epilogue name, port
    msr     primask, r12
    bx      lr
    .size   \name, . - \name
    .endm

#include "board/marker_pair.inc"
