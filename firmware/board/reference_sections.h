/**
 * Sections that measure a cost by itself (reference_sections.S). Each runs with all interrupts
 * masked. Its first measured instruction begins a flash line.
 */
#ifndef TAILSCOPE_BOARD_REFERENCE_SECTIONS_H
#define TAILSCOPE_BOARD_REFERENCE_SECTIONS_H

#include <stdint.h>

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

#endif
