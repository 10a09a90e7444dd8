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

    .macro marker_prologue name, port, mask
    marker_function \name
    mov.w   r3, #\mask
    movw    r1, #:lower16:(\port + GPIO_BSRR_OFFSET)
    movt    r1, #:upper16:(\port + GPIO_BSRR_OFFSET)
    movw    r2, #:lower16:CYCLE_COUNTER_ADDRESS
    /* the second line of 16 bytes begins here */
    movt    r2, #:upper16:CYCLE_COUNTER_ADDRESS
    mrs     r12, primask
    /* and the fourth of 8 here */
    cpsid   i
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

    .macro marker_epilogue name
    msr     primask, r12
    bx      lr
    .size   \name, . - \name
    .endm

    /* Raises the pin, then reads the counter. */
    .macro begin_marker name, port, pin
    marker_prologue \name, \port, (1 << \pin)
    write_pin
    read_counter
    marker_epilogue \name
    .endm

    /* Reads the counter, then lowers the pin. */
    .macro end_marker name, port, pin
    marker_prologue \name, \port, (1 << (\pin + 16))
    read_counter
    write_pin
    marker_epilogue \name
    .endm

    begin_marker heap_port_critical_begin, CRIT_PORT, CRIT_PIN
    end_marker   heap_port_critical_end, CRIT_PORT, CRIT_PIN
    begin_marker operation_begin, OP_PORT, OP_PIN
    end_marker   operation_end, OP_PORT, OP_PIN
