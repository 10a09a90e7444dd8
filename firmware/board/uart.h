/** USART2's transmitter, polled: the ST-Link's virtual COM port, 8N1. */
#ifndef TAILSCOPE_BOARD_UART_H
#define TAILSCOPE_BOARD_UART_H

/** Starts the transmitter at 1,000,000 baud, from whatever clock APB1 has now. */
void uart_start(void);

/** Waits until `byte` can be queued, and queues it. */
void uart_send(char byte);

/** Waits until the line is quiet: the last stop bit has left. */
void uart_drain(void);

#endif
