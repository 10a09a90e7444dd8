#include "suite.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define TAILSCOPE_REQUIRE /* this program provides what requirements call */
#include "port.h"
#include "require.h"

static port_stub_record record;
static uint32_t cycles;

port_stub_record port_stub_read(void) {
    return record;
}

static uint32_t read_cycles(void) {
    const uint32_t now = cycles;
    cycles += PORT_STUB_CYCLES_PER_READ;
    return now;
}

uint32_t heap_port_lock(void) {
    const uint32_t previous = record.depth;
    record.locks++;
    record.depth++;
    return previous;
}

void heap_port_unlock(uint32_t previous) {
    record.misused |= record.inside || record.depth != previous + 1u;
    record.depth = previous;
}

uint32_t heap_port_critical_begin(void) {
    record.misused |= record.inside || record.depth == 0;
    record.inside = true;
    return read_cycles();
}

uint32_t heap_port_critical_end(void) {
    record.misused |= !record.inside || record.depth == 0;
    record.inside = false;
    record.marker_pairs++;
    return read_cycles();
}

const char *heap_port_locking(void) {
    return "none";
}

static jmp_buf before_call;
static bool expected;

bool port_stub_requirement_fails(void (*call)(void)) {
    expected = true;
    const bool failed = setjmp(before_call) != 0;
    if (!failed) {
        call();
    }
    expected = false;
    return failed;
}

void heap_require_failed(const char *what, const char *file, int line) {
    if (expected) {
        longjmp(before_call, 1);
    }
    fprintf(stderr, "%s:%d: required: %s\n", file, line, what);
    abort();
}
