#include "port_stub.h"

#include "port.h"

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
