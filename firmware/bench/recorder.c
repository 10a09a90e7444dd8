#include "bench/records.h"

#include <stdbool.h>

#include "bench/crc.h"
#include "board/links.h"

typedef struct {
    void (*send)(char byte);
    void (*drain)(void); /* behind each line */
    void (*finish)(void);
} transport;

static void leave_in_ring(void) {
}

static const transport serial_line = {uart_send, uart_drain, uart_drain};
static const transport debugger = {rtt_send, leave_in_ring, rtt_drain};

static const transport *chosen = &serial_line;

static uint16_t checksum;
static uint32_t log_checksum = CRC32_INITIAL;
static volatile bool line_open; /* read by the fault handler */

static void send_unchecked(char byte) {
    log_checksum = crc32_update(log_checksum, (uint8_t)byte);
    chosen->send(byte);
}

static void send(char byte) {
    checksum = crc16_update(checksum, (uint8_t)byte);
    send_unchecked(byte);
}

static void send_text(const char *text) {
    while (*text != '\0') {
        send(*text++);
    }
}

static void send_hex(uint32_t value, uint32_t digits) {
    while (digits-- > 0u) {
        send("0123456789ABCDEF"[value >> 4u * digits & 0xFu]);
    }
}

void recorder_use_rtt(void) {
    rtt_start();
    chosen = &debugger;
}

void record_begin(const char *type) {
    line_open = true;
    send_unchecked('@');
    checksum = CRC16_INITIAL;
    send_text(type);
}

void record_decimal(uint32_t value) {
    char digits[11]; /* 4294967295 and the terminator */
    char *first = digits + sizeof digits - 1;
    *first = '\0';
    do {
        *--first = (char)('0' + value % 10u);
        value /= 10u;
    } while (value != 0u);
    record_text(first);
}

void record_hex(uint32_t value) {
    send(',');
    send_hex(value, 8);
}

void record_text(const char *text) {
    send(',');
    send_text(text);
}

void record_letter(char letter) {
    send(',');
    send(letter);
}

void record_end(void) {
    const uint16_t sum = checksum;
    send_unchecked('*');
    send_hex(sum, 4);
    send_unchecked('\n');
    chosen->drain();
    line_open = false;
}

uint32_t recorder_checksum(void) {
    return log_checksum;
}

void recorder_finish(void) {
    chosen->finish();
}

void record_abandon(void) {
    if (line_open) {
        send_unchecked('\n');
        line_open = false;
    }
}
