/* The lines are docs/how-to/traces.md. Needs no library, and 60 bytes of stack. */
#include "FreeRTOSConfig.h"

#include <stdint.h>

#include "tailscope_trace.h"

#ifdef TAILSCOPE_TRACE_RTT
#include "SEGGER_RTT.h"
#define WRITE(text, length) \
    ((void)SEGGER_RTT_Write(TAILSCOPE_TRACE_RTT, (text), (unsigned)(length)))
#else
#define WRITE(text, length) tailscope_trace_write((text), (length))
#endif

/* "@TA," and three numbers of eight digits with a comma behind each; the sum; the line's end */
enum { LINE_BYTES = 4 + 3 * 9 + 5 + 1 };

static uint32_t operations;

/** In hexadecimal, without zeros in front. Returns where it ends. */
static char *put(char *at, uint32_t value) {
    uint32_t shift = 28;
    while (shift != 0u && value >> shift == 0u) {
        shift -= 4u;
    }
    for (;; shift -= 4u) {
        *at++ = "0123456789abcdef"[value >> shift & 15u];
        if (shift == 0u) {
            return at;
        }
    }
}

/** CRC-16/CCITT-FALSE. */
static uint16_t crc(const char *from, const char *end) {
    uint32_t remainder = 0xFFFF;
    for (; from < end; from++) {
        remainder ^= (uint32_t)(uint8_t)*from << 8;
        for (int bit = 0; bit < 8; bit++) {
            remainder = (remainder << 1) ^ ((remainder & 0x8000u) != 0u ? 0x1021u : 0u);
        }
    }
    return (uint16_t)remainder;
}

static char *begin(char *line, char kind) {
    line[0] = '@';
    line[1] = 'T';
    line[2] = kind;
    line[3] = ',';
    return put(line + 4, operations++);
}

static char *add(char *at, uint32_t value) {
    *at++ = ',';
    return put(at, value);
}

static void send(const char *line, char *end) {
    const uint16_t sum = crc(line + 1, end);
    *end++ = '*';
    for (int shift = 12; shift >= 0; shift -= 4) {
        *end++ = "0123456789ABCDEF"[sum >> shift & 15];
    }
    *end++ = '\n';
    WRITE(line, (size_t)(end - line));
}

void tailscope_trace_allocated(const void *block, size_t size) {
    char line[LINE_BYTES];
    const size_t header = block == NULL ? 0u : TAILSCOPE_TRACE_HEADER_BYTES;
    char *const end = add(begin(line, 'A'), (uint32_t)(uintptr_t)block);
    send(line, add(end, (uint32_t)(size > header ? size - header : 0u)));
}

void tailscope_trace_freed(const void *block) {
    char line[LINE_BYTES];
    send(line, add(begin(line, 'F'), (uint32_t)(uintptr_t)block));
}
