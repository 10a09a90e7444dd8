/** The serial link's transmitter, polled: the ST-Link's virtual COM port, 8N1. */
#ifndef TAILSCOPE_BOARD_UART_H
#define TAILSCOPE_BOARD_UART_H

#include <stdint.h>

/** Starts the transmitter at `baud`, or as near as the clock that APB1 has now allows. */
void uart_start(uint32_t baud);

/** Waits until `byte` can be queued, and queues it. */
void uart_send(char byte);

/** Waits until the line is quiet: the last stop bit has left. */
void uart_drain(void);

#endif
