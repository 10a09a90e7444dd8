/**
 * Records through the debugger: a ring in SRAM that it reads while the core runs. The layout is
 * that of SEGGER's Real Time Transfer, so any tool that knows it finds and reads the ring.
 */
#ifndef TAILSCOPE_BOARD_RTT_H
#define TAILSCOPE_BOARD_RTT_H

/** Offers an empty ring to the debugger, which can read it even while the core sleeps. */
void rtt_start(void);

/**
 * Waits until the ring has room for `byte`, and puts it there. Waits for ever if no debugger reads.
 */
void rtt_send(char byte);

/** Waits until the debugger has fetched all, for a quarter of a second at the least. */
void rtt_drain(void);

#endif
