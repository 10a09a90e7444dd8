/**
 * Records through the debugger: a ring in SRAM that it reads while the core runs, laid out as
 * SEGGER's Real Time Transfer, so that any tool that speaks it finds and reads the ring.
 */
#ifndef TAILSCOPE_BOARD_RTT_H
#define TAILSCOPE_BOARD_RTT_H

/** Offers an empty ring to the debugger. */
void rtt_start(void);

/** Waits until the ring has room for `byte`, and puts it there. Without a debugger that reads it
 * waits for ever. */
void rtt_send(char byte);

#endif
