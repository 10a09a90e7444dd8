/**
 * Operation lists out of arbitrary bytes, against the shadow. The entry is libFuzzer's, so that it
 * can drive this too (clang -fsanitize=fuzzer); fuzz_driver.c does it with what gcc offers.
 *
 * Four bytes are an operation: slot, kind, and a size of 16 bits. The kind says how many of the
 * bits count.
 */
#include <stdio.h>
#include <stdlib.h>

#include "allocator_promises.h"
#include "bench.h"
#include "fuzz.h"
#include "harness.h"
#include "shadow.h"

enum { LIVE_LIMIT = 64, OPERATION_BYTES = 4 };

void harness_check(bool holds, const char *what, const char *file, int line) {
    if (!holds) {
        fprintf(stderr, "%s:%d: %s does not hold\n", file, line, what);
        abort();
    }
}

void harness_check_equal(uintmax_t found, uintmax_t wanted, const char *what, const char *file,
                         int line) {
    if (found != wanted) {
        fprintf(stderr, "%s:%d: %s is %ju, not %ju\n", file, line, what, found, wanted);
        abort();
    }
}

static size_t size_of(const uint8_t *operation) {
    static const uint16_t masks[] = {0x1F, 0x7F, 0x3FF, 0xFFFF};
    const size_t drawn = operation[2] | (size_t)operation[3] << 8;
    return 1 + (drawn & masks[operation[1] & 3]);
}

bool fuzz_tells;

/** The number of the allocation that made each live block, in the shadow's order. */
static unsigned made_by[LIVE_LIMIT + 1];
static unsigned allocations;

/** An operation as judge.c writes it, before it is run: the last line is the one that broke. */
static void tell(char kind, unsigned block, size_t size, size_t alignment) {
    if (!fuzz_tells) {
        return;
    }
    if (kind == 'a') {
        printf("a %u %zu %zu\n", block, size, alignment == ALIGNMENT ? 0 : alignment);
    } else if (kind == 'r') {
        printf("r %u %zu\n", block, size);
    } else if (kind == 'f') {
        printf("f %u\n", block);
    } else {
        printf("e\n");
    }
    fflush(stdout);
}

static void allocate(size_t size, size_t alignment, uint8_t fill) {
    tell('a', ++allocations, size, alignment);
    if (shadow_allocate(size, alignment, fill)) {
        made_by[shadow_live() - 1] = allocations;
    }
}

static void release(size_t chosen) {
    tell('f', made_by[chosen], 0, 0);
    made_by[chosen] = made_by[shadow_live() - 1];
    shadow_free(chosen);
}

static void operate(const uint8_t *operation) {
    const unsigned kind = operation[1] >> 2 & 7;
    const size_t live = shadow_live();
    if (live == 0 || (kind < 4 && live < LIVE_LIMIT)) {
        const bool aligned = kind == 3 && allocator_promises("aligns");
        allocate(size_of(operation), aligned ? (size_t)16 << operation[0] % 9 : ALIGNMENT,
                 operation[0]);
    } else if (kind == 4 && allocator_promises("reallocates")) {
        tell('r', made_by[operation[0] % live], size_of(operation), 0);
        (void)shadow_reallocate(operation[0] % live, size_of(operation));
    } else if (allocator_promises("frees")) {
        release(operation[0] % live);
    }
    CHECK(heap_check());
    CHECK_EQUAL(heap_last_operation().live_blocks, shadow_live());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    shadow_reset();
    allocations = 0;
    for (size_t at = 0; at + OPERATION_BYTES <= size; at += OPERATION_BYTES) {
        operate(data + at);
    }
    shadow_check();
    if (allocator_promises("frees")) {
        tell('e', 0, 0, 0);
        shadow_free_all((uint32_t)size + 1);
        CHECK_EQUAL(heap_last_operation().bytes_in_use, 0);
        CHECK(heap_check());
    }
    return 0;
}
