#include "bench/steps.h"

#include "board/compare_output.h"
#include "board/cycle_counter.h"
#include "board/nvic.h"
#include "board/pins.h"

enum { FRAME_EDGES = 64, START_PERIOD_TICKS = 840, END_PERIOD_TICKS = 1260, QUIET_CYCLES = 4200 };

/* Counts edges with interrupts masked, because a flag missed would be an edge too many. An even
 * number leaves the timer's output low, like the pin's own register. So SYNC changes hands without
 * a glitch. */
static void send_frame(uint32_t period_ticks) {
    compare_output_prepare(&frame_output, period_ticks);
    const uint32_t previous = interrupts_mask();
    compare_output_run(&frame_output);
    for (int edge = 0; edge < FRAME_EDGES; edge++) {
        while (!compare_output_matched(&frame_output)) {}
        compare_output_clear(&frame_output);
    }
    compare_output_stop(&frame_output);
    interrupts_restore(previous);
    pin_to_output(SYNC_PORT, SYNC_PIN);
}

void send_start_frame(void) {
    send_frame(START_PERIOD_TICKS);
}

void send_end_frame(void) {
    pin_write(SYNC_PORT, SYNC_PIN, false);
    cycle_counter_wait(QUIET_CYCLES);
    send_frame(END_PERIOD_TICKS);
}
