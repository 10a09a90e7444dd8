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

static void operate(const uint8_t *operation) {
    const unsigned kind = operation[1] >> 2 & 7;
    const size_t live = shadow_live();
    if (live == 0 || (kind < 4 && live < LIVE_LIMIT)) {
        const bool aligned = kind == 3 && allocator_promises("aligns");
        (void)shadow_allocate(size_of(operation),
                              aligned ? (size_t)16 << operation[0] % 9 : ALIGNMENT, operation[0]);
    } else if (kind == 4 && allocator_promises("reallocates")) {
        (void)shadow_reallocate(operation[0] % live, size_of(operation));
    } else if (allocator_promises("frees")) {
        shadow_free(operation[0] % live);
    }
    CHECK(heap_check());
    CHECK_EQUAL(heap_last_operation().live_blocks, shadow_live());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    shadow_reset();
    for (size_t at = 0; at + OPERATION_BYTES <= size; at += OPERATION_BYTES) {
        operate(data + at);
    }
    shadow_check();
    if (allocator_promises("frees")) {
        shadow_free_all((uint32_t)size + 1);
        CHECK_EQUAL(heap_last_operation().bytes_in_use, 0);
        CHECK(heap_check());
    }
    return 0;
}
