/** Waiting for a bit of a register, with an end. */
#ifndef TAILSCOPE_BOARD_POLLS_H
#define TAILSCOPE_BOARD_POLLS_H

#include <stdbool.h>
#include <stdint.h>

/** True as soon as the bits of `mask` have `value`; false if they do not within `polls` reads. */
static inline bool wait_polls(volatile uint32_t *target, uint32_t mask, uint32_t value,
                              uint32_t polls) {
    for (uint32_t poll = 0; poll < polls; poll++) {
        if ((*target & mask) == value) {
            return true;
        }
    }
    return false;
}

#endif
