/* Every operation, refused ones too, is one lock, one marker pair, and one witness of what lies
 * between. */
#include "bench.h"

static port_stub_record before;

static void begin(void) {
    before = port_stub_read();
}

static void was_one_critical_section(void) {
    const port_stub_record now = port_stub_read();
    CHECK_EQUAL(now.locks, before.locks + 1);
    CHECK_EQUAL(now.marker_pairs, before.marker_pairs + 1);
    CHECK_EQUAL(now.depth, 0);
    CHECK(!now.inside);
    CHECK(!now.misused);
    CHECK_EQUAL(heap_last_operation().critical_cycles, PORT_STUB_CYCLES_PER_READ);
}

static void allocate(size_t size, size_t alignment, heap_status wanted) {
    begin();
    (void)heap_allocate_aligned(size, alignment);
    was_one_critical_section();
    CHECK_EQUAL(heap_last_operation().status, wanted);
}

/** One that is refused leaves the figures as they were. */
static void release(void *payload, heap_status wanted) {
    const heap_witness was = heap_last_operation();
    begin();
    CHECK_EQUAL(heap_free(payload), wanted);
    was_one_critical_section();
    CHECK_EQUAL(heap_last_operation().status, wanted);
    if (wanted != HEAP_OK) {
        CHECK_EQUAL(heap_last_operation().live_blocks, was.live_blocks);
        CHECK_EQUAL(heap_last_operation().bytes_in_use, was.bytes_in_use);
    }
}

/** Reading figures is no operation: it has a lock, but no marker, and leaves the witness alone. */
static void reading_leaves_no_mark(void) {
    const heap_witness was = heap_last_operation();
    begin();
    (void)heap_read_statistics();
    (void)heap_check();
    heap_reset_minimum_ever_free();
    const port_stub_record now = port_stub_read();
    CHECK_EQUAL(now.marker_pairs, before.marker_pairs);
    CHECK_EQUAL(now.depth, 0);
    CHECK(!now.misused);
    CHECK_EQUAL(heap_last_operation().status, was.status);
    CHECK_EQUAL(heap_last_operation().probes, was.probes);
}

static void bad_frees(uint8_t *block) {
    release(block + 1, HEAP_MISALIGNED);
    release(&before, HEAP_FOREIGN);
    release((void *)(uintptr_t)8, HEAP_FOREIGN);
    release(block, HEAP_OK);
    release(block, HEAP_DOUBLE_FREE);
    CHECK(heap_check());
    if (allocator_promises("block_layer")) {
        ((uint32_t *)(void *)block)[-1] ^= 0x40; /* in any format the header disagrees now */
        release(block, HEAP_CORRUPT);
    }
}

void test_markers(void) {
    heap_reset();
    begin();
    uint8_t *const block = heap_allocate(24);
    was_one_critical_section();
    reading_leaves_no_mark();
    allocate(0, 8, HEAP_ZERO_SIZE);
    if (allocator_promises("aligns")) {
        allocate(8, 64, HEAP_OK);
    }
    allocate(8, 6, HEAP_BAD_ALIGNMENT);
    allocate(70000, 8, HEAP_OUT_OF_MEMORY);
    if (allocator_promises("reallocates")) {
        void *const other = heap_allocate(8);
        begin();
        CHECK(heap_reallocate(other, 200) != NULL);
        was_one_critical_section();
    }
    release(NULL, HEAP_NULL);
    if (allocator_promises("checks_frees")) {
        bad_frees(block);
    } else if (allocator_promises("frees")) {
        release(block, HEAP_OK);
    }
}
