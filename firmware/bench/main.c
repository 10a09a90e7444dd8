/* One run, from reset to END (docs/reference/wire.md). */

#include "FreeRTOS.h"
#include "bench/account.h"
#include "bench/other_operations.h"
#include "bench/records.h"
#include "bench/steps.h"
#include "bench/stimulus.h"
#include "board/clock.h"
#include "board/compare_output.h"
#include "board/links.h"
#include "board/pins.h"
#include "board/reset.h"
#include "heap/heap.h"
#include "task.h"

enum { RECORD_FORMAT = 7 };

enum { STACK_WORDS = 512 };

static StaticTask_t bench_task_control;
static StackType_t bench_task_stack[STACK_WORDS];

/* Read before anything else may reset the core. */
static uint32_t reset_causes;

static const char *clock_name(void) {
    static const char *const names[] = {
        [CLOCK_BYPASS] = "bypass", [CLOCK_CRYSTAL] = "crystal", [CLOCK_INTERNAL] = "internal"};
    return names[clock_source_now()];
}

static void boot(void) {
    heap_reset();
    const heap_statistics heap = heap_read_statistics();
    record_begin("BOOT");
    record_decimal(RECORD_FORMAT);
    record_text(heap_allocator_name());
    record_decimal(heap_region_bytes());
    record_decimal(clock_core_hz());
    record_hex(clock_flash_acr());
    record_text(tskKERNEL_VERSION_NUMBER);
    record_decimal(heap.free_blocks);
    record_decimal(heap.free_bytes);
    record_text(heap_locking());
    record_text(heap_knobs());
    record_text(clock_name());
    record_hex(reset_causes);
    record_text(BOARD_NAME);
    record_end();
    if (heap.largest_free_block == 0u || !heap_check()) {
        fail("heap", heap.largest_free_block);
    }
}

static const image *plan(void) {
    const image *operations = image_in_flash();
    const image_fault found = image_check(operations, image_capacity_bytes());
    if (found.reason != NULL) {
        fail(found.reason, found.detail);
    }
    const image_header *header = &operations->header;
    record_begin("PLAN");
    record_text(header->name);
    record_decimal(image_operations(operations));
    record_hex(header->body_crc32);
    record_decimal(header->stimulus_mode);
    record_decimal(header->stimulus_period_ticks);
    record_decimal(header->control_period_ticks);
    record_end();
    return operations;
}

/* Everything that the wire shows. Returns the number of operations. */
static uint32_t measure(const image *operations) {
    const image_header *header = &operations->header;
    send_common_pulses();
    send_start_frame();
    calibrate(0);
    if (header->stimulus_mode != STIMULUS_NONE) {
        stimulus_start(header);
    }
    const uint32_t count = interpret(operations);
    stimulus_stop();
    send_end_frame();
    calibrate(CALIBRATION_PULSES);
    send_common_pulses();
    prove_cycle_counter_still();
    return count;
}

static void record_range(latency_range latencies) {
    record_decimal(latencies.least_ticks);
    record_decimal(latencies.most_ticks);
}

static void record_answers(void) {
    const stimulus_counts counts = stimulus_read_counts();
    record_begin("STAT");
    record_decimal(counts.interrupts);
    record_decimal(counts.wakes);
    record_decimal(counts.controls);
    record_decimal(counts.preempted_operations);
    record_range(stimulus_read_latencies(ANSWER_ISR));
    record_range(stimulus_read_latencies(ANSWER_TASK));
    record_range(stimulus_read_latencies(ANSWER_CONTROL));
    record_end();
}

/* Compares the heap's own walk with the bench's account of the operations. */
static bool heap_is_sound(const heap_statistics *heap) {
    const heap_account account = account_read();
    return heap_check() && heap->live_blocks == account.live_blocks &&
           heap->bytes_in_use == account.bytes_in_use;
}

static void record_heap(void) {
    const heap_statistics heap = heap_read_statistics();
    record_begin("HEAP");
    record_decimal(heap.free_bytes);
    record_decimal(heap.largest_free_block);
    record_decimal(heap.free_blocks);
    record_decimal(heap_is_sound(&heap) ? 1 : 0);
    record_end();
}

static void record_last(uint32_t operations) {
    const uint32_t all_before = recorder_checksum();
    record_begin("END");
    record_decimal(operations);
    record_hex(all_before);
    record_end();
}

static void run_bench(void *unused) {
    (void)unused;
    boot();
    prove_cycle_counter();
    const uint32_t operations = measure(plan());
    record_answers();
    record_heap();
    record_last(operations);
    recorder_finish();
    halt();
}

int main(void) {
    const image *asked = image_in_flash();
    pins_start();
    reset_causes = reset_cause_take();
    const bool clocked = clock_start(image_clock(asked));
    uart_start(image_baud(asked));
    if (image_asks_for_rtt(asked)) {
        recorder_use_rtt();
    }
    start_counter_alone();
    timers_start();
    if (!clocked) {
        fail("clock", clock_core_hz()); /* no PLL: the serial line has its rate on the HSI too */
    }
    stimulus_create_task();
    (void)xTaskCreateStatic(run_bench, "bench", STACK_WORDS, NULL, TASK_PRIORITY_BENCH,
                            bench_task_stack, &bench_task_control);
    vTaskStartScheduler();
    fail("scheduler", 0);
}
