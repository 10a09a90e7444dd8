/**
 * The host's port.h: no interrupts, but it counts locks and markers and notices when they do not
 * pair.
 */
#ifndef TAILSCOPE_HEAP_TESTS_PORT_STUB_H
#define TAILSCOPE_HEAP_TESTS_PORT_STUB_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint32_t locks;
    uint32_t marker_pairs;
    uint32_t depth; /**< locks not yet released */
    bool inside;    /**< between the begin and the end marker */
    bool misused;   /**< a marker outside a lock, an end without begin, an unlock out of order */
} port_stub_record;

port_stub_record port_stub_read(void);

/** Whether a requirement does not hold in `call` (require.h), which then does not return. */
bool port_stub_requirement_fails(void (*call)(void));

/**
 * How far each read of the stub's cycle counter advances it; the first read after start-up returns
 * 0.
 */
#define PORT_STUB_CYCLES_PER_READ 7u

#endif
