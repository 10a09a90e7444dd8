#include "bench/steps.h"

#include "board/cycle_counter.h"
#include "board_table.h"

/* A loader that resets the core by a request of its own leaves some 100 ms later. When it does it
 * clears DEMCR, which stops the counter, before or behind DHCSR (probe-rs, debug_core_stop). One
 * that pulls the pin and writes nothing then leaves DHCSR as it was, so there is nothing to wait
 * for (pyOCD, reset_cmd.py). The counter cannot measure this: it may stand. A poll takes four
 * cycles at least, and ten at most. */
enum { PATIENCE_POLLS = BOARD_CORE_HZ / 16u, QUIET_POLLS = BOARD_CORE_HZ / 80u };

static void wait_for_sole_use(void) {
    uint32_t polls = 0;
    while (debugger_is_attached() && polls < PATIENCE_POLLS) {
        polls++;
    }
    if (polls > 0) {
        for (uint32_t quiet = 0; quiet < QUIET_POLLS; quiet++) {
            (void)debugger_is_attached();
        }
    }
}

void start_counter_alone(void) {
    if (image_debugger_leaves(image_in_flash())) {
        wait_for_sole_use();
    }
    cycle_counter_start();
}
