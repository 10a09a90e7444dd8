/* Alignments up to the largest and above it, on a region of any size; and that requirements are
 * held to (require.h). */
#include "allocator.h"
#include "bench.h"

enum { BLOCKS = 8, PROMISED_ALIGNMENT = 4096 };

extern uint8_t heap_region[];

/** As many blocks as there is room for. Each must be freed by the address that was handed out. */
static void is_served(size_t alignment) {
    shadow_reset();
    CHECK(shadow_allocate(24, ALIGNMENT, 0x11)); /* so that the next does not begin as the region */
    for (uint8_t i = 0; i < BLOCKS && shadow_allocate(100, alignment, i); i++) {}
    CHECK(shadow_live() > 1 || alignment > PROMISED_ALIGNMENT);
    CHECK(heap_check());
    shadow_check();
    while (allocator_promises("frees") && shadow_live() > 0) {
        shadow_free(shadow_live() - 1);
        CHECK(heap_check());
        shadow_check();
    }
    CHECK(!allocator_promises("frees") || heap_last_operation().bytes_in_use == 0);
}

static void is_refused(size_t alignment) {
    heap_reset();
    CHECK(heap_allocate_aligned(100, alignment) == NULL);
    CHECK_EQUAL(heap_last_operation().status, HEAP_BAD_ALIGNMENT);
}

static void begin_at_a_misaligned_region(void) {
    allocator_init(heap_region + 4, 4096);
}

void test_limits(void) {
    CHECK(allocator_largest_alignment >= ALIGNMENT);
    CHECK(allocator_largest_alignment >= PROMISED_ALIGNMENT || !allocator_promises("aligns"));
    for (size_t alignment = ALIGNMENT; alignment != 0; alignment *= 2) {
        if (alignment > heap_region_bytes() || alignment > allocator_largest_alignment) {
            is_refused(alignment);
        } else {
            is_served(alignment);
        }
    }
    if (allocator_promises("requires")) {
        CHECK(port_stub_requirement_fails(begin_at_a_misaligned_region));
    }
}
