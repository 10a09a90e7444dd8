/**
 * Shows a program's own sections on pins, so that Tailscope can measure them on the wire:
 * docs/how-to/observe.md. For any STM32F4, in C11 and C++, with or without an operating system.
 *
 * Say which pins serve, for the whole project (-D), or in a file tailscope_config.h:
 *
 *     #define TAILSCOPE_CRIT TAILSCOPE_PIN('A', 8)
 *     #define TAILSCOPE_SYNC TAILSCOPE_PIN('B', 4)
 *
 * Compile tailscope.c too. Call tailscope_pins_start() once; then, around a section:
 *
 *     TAILSCOPE_BEGIN(CRIT);
 *     ...
 *     TAILSCOPE_END(CRIT);
 *
 * Channels of sections are CRIT, OP, ISR, TASK and CISR. ISR and CISR are also what the bench takes
 * for the answers to the stimuli STIM and CTRL. A channel without a pin cannot be used.
 *
 * A marker is four instructions, or five to be aligned, and its pin moves with the last. Nothing is
 * read, so an interrupt may mark the same port. Each pulse is as much longer than its section: four
 * or five cycles, and some more where its code must first come from a flash slower than the core.
 * tailscope_program_begin() shows sixteen empty sections, and `./lab observe` tells their width.
 */
#ifndef TAILSCOPE_H
#define TAILSCOPE_H

#ifdef __has_include
#if __has_include("tailscope_config.h")
#include "tailscope_config.h"
#endif
#endif

#include <stdint.h>

/** Pin `number` of port `letter`, as in TAILSCOPE_PIN('A', 8). */
#define TAILSCOPE_PIN(letter, number) (((letter) - 'A') * 16 + (number))

/* BSRR of a pin's port: RM0368, sections 2.3 and 8.4.7, and the same in the whole line. */
#define TAILSCOPE_BSRR(pin) (0x40020018 + (pin) / 16 * 0x400)

/* The address and the bit are made anew at each place, so that a pulse's width does not depend on
 * what the compiler has in its registers; and aligned, so that it hardly does on where it puts
 * them. */
#define TAILSCOPE_STORE(pin, shift) \
    do { \
        uint32_t tailscope_address_; \
        uint32_t tailscope_bit_; \
        __asm volatile(".balign 4\n\t" \
                       "movw  %0, %2\n\t" \
                       "movt  %0, %3\n\t" \
                       "mov.w %1, %4\n\t" \
                       "str.w %1, [%0]" \
                       : "=&r"(tailscope_address_), "=&r"(tailscope_bit_) \
                       : "i"(TAILSCOPE_BSRR(pin) & 0xFFFF), "i"(TAILSCOPE_BSRR(pin) >> 16), \
                         "i"(1u << ((pin) % 16 + (shift))) \
                       : "memory"); \
    } while (0)

/** Raises the channel's pin. */
#define TAILSCOPE_BEGIN(channel) TAILSCOPE_STORE(TAILSCOPE_##channel, 0)

/** Lowers it. */
#define TAILSCOPE_END(channel) TAILSCOPE_STORE(TAILSCOPE_##channel, 16)

/**
 * The same for sections that may lie within each other, in one task, in several or in interrupts:
 * the pin is high from the first begin to the last end. Interrupts are masked while it counts.
 */
#define TAILSCOPE_BEGIN_NESTED(channel) \
    do { \
        const uint32_t tailscope_mask_ = tailscope_mask(); \
        if (tailscope_depth[TAILSCOPE_INDEX_##channel]++ == 0u) { \
            TAILSCOPE_BEGIN(channel); \
        } \
        tailscope_unmask(tailscope_mask_); \
    } while (0)

#define TAILSCOPE_END_NESTED(channel) \
    do { \
        const uint32_t tailscope_mask_ = tailscope_mask(); \
        if (--tailscope_depth[TAILSCOPE_INDEX_##channel] == 0u) { \
            TAILSCOPE_END(channel); \
        } \
        tailscope_unmask(tailscope_mask_); \
    } while (0)

#define TAILSCOPE_INDEX_CRIT 0
#define TAILSCOPE_INDEX_OP 1
#define TAILSCOPE_INDEX_ISR 2
#define TAILSCOPE_INDEX_TASK 3
#define TAILSCOPE_INDEX_CISR 4
#define TAILSCOPE_CHANNELS 5

#ifdef __cplusplus
extern "C" {
#endif

extern uint32_t tailscope_depth[TAILSCOPE_CHANNELS];

static inline uint32_t tailscope_mask(void) {
    uint32_t previous;
    __asm volatile("mrs %0, primask\n\tcpsid i" : "=r"(previous) : : "memory");
    return previous;
}

static inline void tailscope_unmask(uint32_t previous) {
    __asm volatile("msr primask, %0" : : "r"(previous) : "memory");
}

/** Every pin that is defined becomes an output and low. */
void tailscope_pins_start(void);

/**
 * Shows that the program begins, on SYNC: the start frame, sixteen empty sections on CRIT and on
 * OP, and SYNC high until tailscope_program_end(). Then `./lab observe` compares its analyzer's
 * clock with the core's, knows what the markers cost, and can tell a whole run from a part of one.
 * It needs TAILSCOPE_SYNC, takes a millisecond with interrupts masked, and starts DWT's cycle
 * counter. `core_hz` is the core's clock, from 8 MHz on. Call both of these or neither.
 */
void tailscope_program_begin(uint32_t core_hz);

/** Shows that it ends: the end frame and empty sections. What comes later does not count. */
void tailscope_program_end(void);

#ifdef __cplusplus
}
#endif

#endif
