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

    /* Left out one by one, to measure what they cost (docs/reference/perturbation.md). */
    .macro write_pin
#ifndef TAILSCOPE_WITHOUT_PINS
    str     r3, [r1]
#endif
    .endm

    .macro read_counter
#ifdef TAILSCOPE_WITHOUT_DWT
    movs    r0, #0
#else
    ldr     r0, [r2]
#endif
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

    /* Raises the pin, then reads the counter. */
    .macro begin_marker name, port, pin
    marker_prologue \name, \port, \pin
    write_pin
    read_counter
    marker_epilogue \name, \port
    .endm

    /* Reads the counter, then lowers the pin. */
    .macro end_marker name, port, pin
    marker_prologue \name, \port, (\pin + 16)
    read_counter
    write_pin
    marker_epilogue \name, \port
    .endm

    begin_marker heap_port_critical_begin, CRIT_PORT, CRIT_PIN
    end_marker   heap_port_critical_end, CRIT_PORT, CRIT_PIN
    begin_marker operation_begin, OP_PORT, OP_PIN
    end_marker   operation_end, OP_PORT, OP_PIN
