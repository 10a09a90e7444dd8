#include "bench/steps.h"

#include "board/cycle_counter.h"
#include "board/markers.h"
#include "board/pins.h"

/* A pulse is twelve samples wide at 24 MS/s, which is 2/7 of the core clock. The spacing is odd and
 * no multiple of 7, so the pulses meet the analyzer's clock at every phase. */
enum { PULSES = 8, WIDTH_CYCLES = 42, SPACING_CYCLES = 401 };

/* The bit of a pin, if it is one of that port. */
#define IN_A(port, pin) ((port) == GPIOA ? 1u << (pin) : 0u)
#define IN_B(port, pin) ((port) == GPIOB ? 1u << (pin) : 0u)

static const uint32_t port_a_pins = (EACH_CHANNEL(IN_A, |)) & ~IN_A(SYNC_PORT, SYNC_PIN);
static const uint32_t port_b_pins = (EACH_CHANNEL(IN_B, |)) & ~IN_B(SYNC_PORT, SYNC_PIN);

/* One store cannot reach both ports. Their order alternates, so that the cycles between the two
 * cancel. */
static void drive(bool a_first, uint32_t shift) {
    volatile uint32_t *const port_a = &GPIO_BSRR(GPIOA);
    volatile uint32_t *const port_b = &GPIO_BSRR(GPIOB);
    if (a_first) {
        store_both(port_a, port_a_pins << shift, port_b, port_b_pins << shift);
    } else {
        store_both(port_b, port_b_pins << shift, port_a, port_a_pins << shift);
    }
}

void send_common_pulses(void) {
    const uint32_t set = 0;
    const uint32_t reset = 16;
    pin_to_output(STIM_PORT, STIM_PIN);
    pin_to_output(CTRL_PORT, CTRL_PIN);
    for (uint32_t pulse = 0; pulse < PULSES; pulse++) {
        cycle_counter_wait(SPACING_CYCLES);
        drive(pulse % 2u == 0u, set);
        cycle_counter_wait(WIDTH_CYCLES);
        drive(pulse % 2u == 0u, reset);
    }
}
