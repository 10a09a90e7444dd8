#include "board/links.h"

#include "board_table.h"
#include "registers.h"

enum { RING_BYTES = 1024, MODE_BLOCK_IF_FULL = 2 };

/* A quarter of a second at least: a poll takes more than four cycles. */
enum { DRAIN_POLLS = BOARD_CORE_HZ / 84u * 5u };

/* SEGGER's user manual of the J-Link (UM08001), chapter on RTT: control block and buffer
 * descriptor. */
typedef struct {
    const char *name;
    volatile char *ring;
    uint32_t size_bytes;
    volatile uint32_t write_offset; /* ours */
    volatile uint32_t read_offset;  /* the debugger's */
    uint32_t flags;
} buffer;

typedef struct {
    volatile char id[16];
    int32_t up_buffers;
    int32_t down_buffers;
    buffer up;
} control_block;

/* Debuggers look for this name. */
control_block _SEGGER_RTT;

static volatile char ring[RING_BYTES];

static void finish_stores(void) {
    __asm volatile("dmb" ::: "memory");
}

/* The id is written last: whoever sees it finds the rest complete. Should the core
 * sleep, a debugger reads SRAM only if DBG_SLEEP keeps the bus clocked (RM0368, section 23.16.1).
 * pyOCD sets it too on the STM32F4 and L4; on the F1 it clears it, and a program cannot write it.
 */
void rtt_start(void) {
    clock_bus_in_sleep();
    static const char id[] = "SEGGER RTT";
    _SEGGER_RTT.up = (buffer){"records", ring, RING_BYTES, 0, 0, MODE_BLOCK_IF_FULL};
    _SEGGER_RTT.up_buffers = 1;
    _SEGGER_RTT.down_buffers = 0;
    finish_stores();
    for (uint32_t index = 0; index < sizeof id; index++) {
        _SEGGER_RTT.id[index] = id[index];
    }
}

/* One byte stays free, because equal offsets mean an empty ring. */
void rtt_send(char byte) {
    buffer *up = &_SEGGER_RTT.up;
    const uint32_t at = up->write_offset;
    const uint32_t next = (at + 1u) % RING_BYTES;
    while (next == up->read_offset) {}
    ring[at] = byte;
    finish_stores();
    up->write_offset = next;
}

void rtt_drain(void) {
    const buffer *up = &_SEGGER_RTT.up;
    for (uint32_t poll = 0; poll < DRAIN_POLLS && up->read_offset != up->write_offset; poll++) {}
}
