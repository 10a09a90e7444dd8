/** A task's answer: its pin rises, and a timer's counter is read at once. */
#ifndef TAILSCOPE_BOARD_RAISE_AND_READ_H
#define TAILSCOPE_BOARD_RAISE_AND_READ_H

#include <stdint.h>

#include "board/pins.h"

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

#endif
