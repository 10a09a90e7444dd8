/** Functions of assembly that mark and measure, each at a known place in the flash. */
#pragma once

#include <stdint.h>

#include "board/pins.h"

/*
 * Markers of one whole heap operation on OP, made like the heap's own (heap/port.h): see
 * markers.S.
 */

/** Raises OP, then reads CYCCNT. Returns CYCCNT, in core cycles. */
uint32_t operation_begin(void);

/** Reads CYCCNT, then lowers OP. Returns CYCCNT, in core cycles. */
uint32_t operation_end(void);

/*
 * Sections that measure a cost by itself (reference_sections.S). Each runs with all interrupts
 * masked. Its first measured instruction begins a flash line.
 */

/**
 * Two reads of CYCCNT, one right after the other. Returns their difference: what a read costs, in
 * cycles.
 */
uint32_t counter_read_cycles(void);

/**
 * The same, with the three instructions between the reads by which an interrupt raises its pin
 * (interrupt_entry.S). What they store to the port moves no pin. Returns the difference, in cycles.
 */
uint32_t pin_raise_cycles(void);

/**
 * The same, with the store and the read of a timer's counter behind it, as an interrupt makes them.
 * Returns the difference, in cycles.
 */
uint32_t timer_read_cycles(void);

/**
 * Stores `first_value` to `first_register` and, with the next instruction, `second_value` to
 * `second_register`.
 */
void store_both(volatile uint32_t *first_register, uint32_t first_value,
                volatile uint32_t *second_register, uint32_t second_value);

/*
 * A task's answer: its pin rises, and a timer's counter is read at once.
 */

/**
 * Raises `pin`, then reads the counter of `timer`. Interrupts are unmasked at the call and after
 * it.
 *
 * Store and read lie in one word of flash, and no interrupt can come between them. So nothing can
 * but the same few cycles at every call.
 */
static inline uint32_t raise_and_read(uint32_t port, uint32_t pin, uint32_t timer) {
    uint32_t count;
    __asm volatile(
        "cpsid i\n\t"
        ".balign 4\n\t"
        "str %[bit], [%[set]]\n\t"
        "ldr %[count], [%[counter]]\n\t"
        "cpsie i"
        : [count] "=l"(count)
        : [bit] "l"(1u << pin), [set] "l"(&GPIO_BSRR(port)), [counter] "l"(&TIM_CNT(timer))
        : "memory");
    return count;
}
