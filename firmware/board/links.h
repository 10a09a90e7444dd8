/** What carries the records. */
#pragma once

#include <stdint.h>

/*
 * The serial link's transmitter, polled: the ST-Link's virtual COM port, 8N1.
 */

/** Starts the transmitter at `baud`, or as near as the clock that APB1 has now allows. */
void uart_start(uint32_t baud);

/** Waits until `byte` can be queued, and queues it. */
void uart_send(char byte);

/** Waits until the line is quiet: the last stop bit has left. */
void uart_drain(void);

/*
 * Records through the debugger: a ring in SRAM that it reads while the core runs. The layout is
 * that of SEGGER's Real Time Transfer, so any tool that knows it finds and reads the ring.
 */

/** Offers an empty ring to the debugger, which can read it even while the core sleeps. */
void rtt_start(void);

/**
 * Waits until the ring has room for `byte`, and puts it there. Waits for ever if no debugger reads.
 */
void rtt_send(char byte);

/** Waits until the debugger has fetched all, for a quarter of a second at the least. */
void rtt_drain(void);
