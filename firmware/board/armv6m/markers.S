/*
 * Markers: a pin write and a read of the counter as one pair. The pair is indivisible (PRIMASK) and
 * lies in one word of the flash, which is fetched at once. The literals are read before, and what
 * stands between lets the flash get ahead again. So nothing can fall between the two but the same
 * few cycles at every call: the wire's pulse and the counter's difference differ by a constant,
 * which calibration measures. Only r0-r3 and r12 are used, PRIMASK is restored, and the counter is
 * returned in r0 (AAPCS).
 */
#include "architecture.h"
#include "board/marker_function.inc"
#include "board/pins.h"

    .syntax unified
    .thumb

    .macro marker_prologue name, port, bit
    marker_function \name
    ldr     r1, .L\name\()_port
    ldr     r2, .L\name\()_counter
    movs    r3, #1
    lsls    r3, r3, #\bit
    mrs     r12, primask
    cpsid   i
    nop
    /* a word of the flash begins here */
    .endm

    .macro marker_epilogue name, port
    msr     primask, r12
    bx      lr
    .balign 4
.L\name\()_port:
    .word   \port + GPIO_BSRR_OFFSET
.L\name\()_counter:
    .word   CYCLE_COUNTER_ADDRESS
    .size   \name, . - \name
    .endm

#include "board/marker_pair.inc"
