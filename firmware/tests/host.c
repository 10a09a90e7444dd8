/* What image.c and recorder.c need of the board, for a shared library on the host. */
#include "bench/image.h"
#include "board/links.h"

const image operation_image = {.header = {.magic = 0}};
const char operation_image_bytes[1];

char sent[4096];
unsigned sent_bytes;
unsigned drains;

void uart_send(char byte) {
    sent[sent_bytes++] = byte;
}

void uart_drain(void) {
    drains++;
}

char in_ring[4096];
unsigned in_ring_bytes;
unsigned rtt_starts;
unsigned rtt_drains;

void rtt_start(void) {
    rtt_starts++;
}

void rtt_drain(void) {
    rtt_drains++;
}

void rtt_send(char byte) {
    in_ring[in_ring_bytes++] = byte;
}
